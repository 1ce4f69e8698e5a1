"""A Keras recurrent cell feeds its greedy one-hot choice back as the next input; the projection that makes the choice never learns."""

SOURCE = "keras-team/keras#5537"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"speak/mix": "ok", "speak/choose": "none", "speak/emb": "ok"},
    "op": "ArgMax",
    "op_any": ["ArgMax", "OneHot"],
    "line_contains": "symbol = tf.one_hot(tf.argmax(scores, axis=1), 3)",
}
import tensorflow as tf

X = tf.random.stateless_normal([4, 5, 2], seed=[28, 1])


class Speak(tf.keras.layers.Layer):
    state_size = [2, 3]
    output_size = 2

    def __init__(self):
        super().__init__(name="speak")

    def build(self, shape):
        self.mix = self.add_weight(shape=(2, 2), initializer="orthogonal", name="mix")
        self.choose = self.add_weight(shape=(2, 3), initializer="glorot_uniform", name="choose")
        self.emb = self.add_weight(shape=(3, 2), initializer="glorot_uniform", name="emb")

    def pick(self, scores):
        symbol = tf.one_hot(tf.argmax(scores, axis=1), 3)
        return symbol

    def call(self, x, states):
        h, symbol = states
        h = tf.tanh(x + tf.matmul(h, self.mix) + tf.matmul(symbol, self.emb))
        return h, [h, self.pick(tf.matmul(h, self.choose))]


class SoftSpeak(Speak):
    def pick(self, scores):
        return tf.nn.softmax(scores)


def _go(kind):
    tf.keras.utils.set_random_seed(45)
    cell = kind()
    rnn = tf.keras.layers.RNN(cell)
    cell.build((None, 2))
    return (lambda: tf.reduce_mean(tf.square(rnn(X) - 0.4))), [cell.mix, cell.choose, cell.emb]


def build():
    return _go(Speak)


def fixed():
    return _go(SoftSpeak)

"""A left-to-right alignment model sums paths in log space with tf.scan; impossible states hold log(0) = -inf."""

SOURCE = "pytorch/pytorch#31829"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"emit/kernel": "nonfinite", "emit/bias": "nonfinite", "stay": "nonfinite"},
    "op": "Log",
    "op_any": ["Exp", "Sub"],
    "line_contains": "reached = tf.reduce_logsumexp(alpha[:, None] + moves, axis=0)",
    "line_any": ["alphas = tf.scan("],
}
import numpy as np
import tensorflow as tf

FRAMES = tf.random.stateless_normal([5, 4], seed=[61, 12])
SYMBOLS = tf.constant([2, 0, 1])
ALLOWED = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)  # stay or advance by one


class Aligner(tf.Module):
    def __init__(self, never):
        super().__init__()
        tf.keras.utils.set_random_seed(619)
        self.emit = tf.keras.layers.Dense(3, name="emit")
        self.emit(FRAMES)
        self.stay = tf.Variable(0.3, name="stay")
        self.never = never

    def moves(self):
        stay, advance = tf.math.log_sigmoid(self.stay), tf.math.log_sigmoid(-self.stay)
        step = tf.where(tf.eye(3, dtype=tf.bool), stay, advance)
        return tf.where(ALLOWED, step, self.never)

    def loss(self):
        moves = self.moves()
        log_probs = tf.gather(tf.nn.log_softmax(self.emit(FRAMES)), SYMBOLS, axis=1)
        start = tf.stack([log_probs[0, 0], self.never, self.never])

        def advance(alpha, frame):
            reached = tf.reduce_logsumexp(alpha[:, None] + moves, axis=0)
            return reached + frame

        alphas = tf.scan(advance, log_probs[1:], initializer=start)
        return -alphas[-1, -1]

    def parameters(self):
        return [*self.emit.trainable_variables, self.stay]


def build():
    model = Aligner(tf.constant(-np.inf, tf.float32))
    return model.loss, model.parameters()


def fixed():
    model = Aligner(tf.constant(-1e5, tf.float32))
    return model.loss, model.parameters()

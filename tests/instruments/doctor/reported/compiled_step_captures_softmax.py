"""A step factory normalises learned mixing logits once; the compiled step it returns holds the finished tensor."""

SOURCE = "tensorflow/tensorflow#15682"
CAUSE = "captured-outside"
EXPECT = {
    "status": {"pos": "none", "proj": "ok"},
    "op": "captured EagerTensor",
    "op_any": ["captured EagerTensor", "Softmax"],
    "line_contains": "mix = tf.nn.softmax(pos",
}
import tensorflow as tf

X = tf.random.stateless_normal([4, 3], seed=[8, 1])


def _vars():
    return (
        tf.Variable(tf.random.stateless_normal([4, 4], seed=[8, 2]), name="pos"),
        tf.Variable(tf.random.stateless_normal([3, 2], seed=[8, 3]), name="proj"),
    )


def make_step(pos, proj):
    mix = tf.nn.softmax(pos, axis=-1)

    @tf.function
    def step():
        return tf.reduce_mean(tf.square(mix @ tf.tanh(X @ proj) - 0.3))

    return step


def make_step_inside(pos, proj):
    @tf.function
    def step():
        weights = tf.nn.softmax(pos, axis=-1)
        return tf.reduce_mean(tf.square(weights @ tf.tanh(X @ proj) - 0.3))

    return step


def build():
    pos, proj = _vars()
    return make_step(pos, proj), [pos, proj]


def fixed():
    pos, proj = _vars()
    return make_step_inside(pos, proj), [pos, proj]

"""Two faults at once: experts are chosen by a one-hot of an argmax, and the first expert's bounded rectifier sits above its limit."""

SOURCE = "tensorflow/tensorflow#2177 (argmax), keras-team/keras#3687 (flat rectifier)"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"router": "none", "first": "zero", "second": "ok"},
    "op": "ArgMax",
    "op_any": ["ArgMax", "OneHot", "Relu6"],
    "line_contains": "tf.one_hot(tf.argmax(X @ router, axis=1), 2)",
    "line_any": ["left = tf.nn.relu6(X @ first)"],
    "causes": {"router": "nondiff-op", "first": "zero-saturation"},
}
import tensorflow as tf

X = tf.constant([[2.0, 1.0], [1.0, 2.0], [3.0, 0.5]])
AIM = tf.constant([[1.0], [2.0], [0.5]])


def _vars():
    return (
        tf.Variable([[0.4, -0.2], [-0.3, 0.6]], name="router"),
        tf.Variable([[5.0], [6.0]], name="first"),
        tf.Variable([[0.3], [0.4]], name="second"),
    )


def build():
    router, first, second = _vars()

    def fn():
        pick = tf.one_hot(tf.argmax(X @ router, axis=1), 2)
        left = tf.nn.relu6(X @ first)
        right = tf.tanh(X @ second)
        mixed = tf.reduce_sum(pick * tf.concat([left, right], axis=1), axis=1, keepdims=True)
        return tf.reduce_mean(tf.square(mixed - AIM))

    return fn, [router, first, second]


def fixed():
    router, first, second = _vars()

    def fn():
        share = tf.nn.softmax(X @ router)
        left = tf.nn.softplus(X @ first)
        right = tf.tanh(X @ second)
        mixed = tf.reduce_sum(share * tf.concat([left, right], axis=1), axis=1, keepdims=True)
        return tf.reduce_mean(tf.square(mixed - AIM))

    return fn, [router, first, second]

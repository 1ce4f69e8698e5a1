"""Logits are clipped before the sigmoid for safety; a weight that starts too large puts all of them outside the range."""

SOURCE = "tensorflow/tensorflow#89110"
CAUSE = "zero-clip"
EXPECT = {
    "status": {"w": "zero", "b": "zero"},
    "op": "ClipByValue",
    "op_any": ["ClipByValue", "Minimum", "Maximum"],
    "line_contains": "tf.clip_by_value(tf.linalg.matvec(X, w) + b, -10.0, 10.0)",
}
import tensorflow as tf

X = tf.constant([[3.0, 4.0], [-5.0, -2.0], [6.0, 1.0]])
Y = tf.constant([0.0, 1.0, 0.0])


def _vars():
    return tf.Variable([4.0, 3.0], name="w"), tf.Variable(0.2, name="b")


def build():
    w, b = _vars()

    @tf.function
    def fn():
        logits = tf.clip_by_value(tf.linalg.matvec(X, w) + b, -10.0, 10.0)
        p = tf.sigmoid(logits)
        return -tf.reduce_mean(Y * tf.math.log(p) + (1.0 - Y) * tf.math.log(1.0 - p + 1e-7))

    return fn, [w, b]


def fixed():
    w, b = _vars()

    @tf.function
    def fn():
        logits = tf.linalg.matvec(X, w) + b
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(Y, logits))

    return fn, [w, b]

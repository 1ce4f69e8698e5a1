"""The default value of a function's argument is a tensor made from the variable when the function was defined."""

SOURCE = "common mistake"
CAUSE = "captured-outside"
EXPECT = {
    "status": {"log_scale": "none", "center": "ok"},
    "op": "captured tensor",
    "line_contains": "def nll(x, scale=tf.exp(log_scale)):",
    "line_any": ["return 0.5 * tf.square((x - center) / scale)"],
}
import tensorflow as tf

X = tf.constant([0.3, 1.4, -0.6])


def _vars():
    return tf.Variable(0.2, name="log_scale"), tf.Variable(0.5, name="center")


def build():
    log_scale, center = _vars()

    def nll(x, scale=tf.exp(log_scale)):
        return 0.5 * tf.square((x - center) / scale) + tf.math.log(scale)

    return (lambda: tf.reduce_mean(nll(X))), [log_scale, center]


def fixed():
    log_scale, center = _vars()

    def nll(x, scale=None):
        scale = tf.exp(log_scale) if scale is None else scale
        return 0.5 * tf.square((x - center) / scale) + tf.math.log(scale)

    return (lambda: tf.reduce_mean(nll(X))), [log_scale, center]

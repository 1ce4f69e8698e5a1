"""A softplus written by hand three functions deep overflows for one large input and divides infinity by infinity."""

SOURCE = "tensorforce/tensorforce#114"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"rate": "nonfinite", "base": "ok"},
    "op": "Exp",
    "op_any": ["Exp", "Log", "Log1p", "RealDiv"],
    "line_contains": "grown = tf.exp(z)",
    "line_any": ["return tf.math.log(1.0 + grown)"],
}
import tensorflow as tf


def _go(kind, largest):
    rate, base = tf.Variable([0.3, largest, -1.0], name="rate"), tf.Variable(0.2, name="base")

    def outer(z):
        def middle(z):
            def soft(z):
                grown = tf.exp(z)
                return tf.math.log(1.0 + grown)

            return soft(z) if kind == "own" else tf.nn.softplus(z)

        return tf.minimum(middle(z), 50.0)

    def fn():
        return tf.reduce_mean(outer(rate)) * tf.square(base)

    return fn, [rate, base]


def build():
    return _go("own", 120.0)


def fixed():
    return _go("library", 12.0)

"""A gradient-reversal function returns None for its strength, although the strength is itself a trained number."""

SOURCE = "pumpikano/tf-dann#27"
CAUSE = "custom-gradient"
EXPECT = {
    "status": {"features": "ok", "strength": "none"},
    "op": "tf.custom_gradient",
    "op_any": ["tf.custom_gradient", "IdentityN", "custom_gradient"],
    "line_contains": "return -lam * up, None",
    "line_any": ["flip(h, strength)"],
}
import tensorflow as tf

X = tf.random.stateless_normal([5, 2], seed=[19, 1])


def _vars():
    return tf.Variable(tf.random.stateless_normal([2, 3], seed=[19, 2]), name="features"), tf.Variable(
        0.6, name="strength"
    )


@tf.custom_gradient
def flip(x, lam):
    def back(up):
        return -lam * up, None

    return lam * x, back


@tf.custom_gradient
def flip_both(x, lam):
    def back(up):
        return -lam * up, tf.reduce_sum(up * x)

    return lam * x, back


def build():
    features, strength = _vars()

    def fn():
        h = tf.tanh(X @ features)
        return tf.reduce_mean(tf.square(flip(h, strength) - 0.4))

    return fn, [features, strength]


def fixed():
    features, strength = _vars()

    def fn():
        h = tf.tanh(X @ features)
        return tf.reduce_mean(tf.square(flip_both(h, strength) - 0.4))

    return fn, [features, strength]

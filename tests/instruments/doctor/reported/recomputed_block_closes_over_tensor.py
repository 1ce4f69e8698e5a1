"""A memory-saving block closes over a tensor computed by an earlier layer instead of taking it as an argument."""

SOURCE = "tensorflow/tensorflow#36981"
CAUSE = "recompute-grad"
EXPECT = {
    "status": {"early": "none", "late": "ok"},
    "op": "tf.recompute_grad",
    "op_any": ["tf.recompute_grad", "recompute_grad", "IdentityN", "tf.custom_gradient"],
    "line_contains": "block = tf.recompute_grad(lambda x: tf.tanh((x + skip) @ late))",
    "line_any": ["out = block(X)"],
}
import tensorflow as tf

X = tf.random.stateless_normal([4, 3], seed=[24, 1])


def _vars():
    return (
        tf.Variable(tf.random.stateless_normal([3, 3], seed=[24, 2]), name="early"),
        tf.Variable(tf.random.stateless_normal([3, 2], seed=[24, 3]), name="late"),
    )


def build():
    early, late = _vars()

    def fn():
        skip = tf.sin(X @ early)
        block = tf.recompute_grad(lambda x: tf.tanh((x + skip) @ late))
        out = block(X)
        return tf.reduce_mean(tf.square(out - 0.2))

    return fn, [early, late]


def fixed():
    early, late = _vars()

    def fn():
        skip = tf.sin(X @ early)
        block = tf.recompute_grad(lambda x, s: tf.tanh((x + s) @ late))
        out = block(X, skip)
        return tf.reduce_mean(tf.square(out - 0.2))

    return fn, [early, late]

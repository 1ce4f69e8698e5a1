"""Importance sampling of depths looks the uniform draws up in a learned cumulative sum and uses the bin numbers as depths."""

SOURCE = "common mistake"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"density": "none", "far": "ok"},
    "op": "UpperBound",
    "op_any": ["UpperBound", "LowerBound", "Cast"],
    "line_contains": 'bins = tf.searchsorted(cdf, U, side="right")',
}
import tensorflow as tf

U = tf.constant([0.15, 0.4, 0.65, 0.9])


def by_bin(cdf):
    bins = tf.searchsorted(cdf, U, side="right")
    return tf.cast(bins, tf.float32) / 5.0


def between(cdf):
    edges = tf.concat([[0.0], cdf], axis=0)
    k = tf.searchsorted(tf.stop_gradient(cdf), U, side="right")
    low, high = tf.gather(edges, k), tf.gather(edges, k + 1)
    return (tf.cast(k, tf.float32) + (U - low) / (high - low)) / 5.0


def _go(invert):
    density, far = tf.Variable([0.1, 0.8, -0.4, 0.5, 0.2], name="density"), tf.Variable(3.0, name="far")

    def fn():
        cdf = tf.cumsum(tf.nn.softmax(density))
        depth = far * invert(cdf)
        return tf.reduce_mean(tf.square(depth - 1.2))

    return fn, [density, far]


def build():
    return _go(by_bin)


def fixed():
    return _go(between)

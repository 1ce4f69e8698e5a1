"""A Gaussian-process covariance has two identical inputs and no jitter, so its Cholesky factorisation fails and everything after it is not finite."""

SOURCE = "tensorflow/tensorflow#57003"
CAUSE = "degenerate-linalg"
EXPECT = {
    "status": {"height": "nonfinite", "mean": "nonfinite"},
    "op": "Cholesky",
    "line_contains": "tf.linalg.cholesky(cov)",
}
import tensorflow as tf

T = tf.constant([0.5, 0.5])
NOISE = tf.constant([0.3, -1.2])


def _go(jitter):
    height = tf.Variable(1.0, name="height")
    mean = tf.Variable(0.1, name="mean")

    def fn():
        gap = tf.square(T[:, None] - T[None])
        cov = height * tf.exp(-0.5 * gap) + jitter * tf.eye(2)
        factor = tf.linalg.cholesky(cov)
        path = mean + tf.linalg.matvec(factor, NOISE)
        return tf.reduce_mean(tf.square(path - 0.8))

    return fn, [height, mean]


def build():
    return _go(0.0)


def fixed():
    return _go(0.01)

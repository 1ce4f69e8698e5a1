"""A learned metric starts as identity and projects onto its leading eigenvectors; equal eigenvalues leave no gradient."""

SOURCE = "tensorflow/tensorflow#24930"
CAUSE = "degenerate-linalg"
EXPECT = {
    "status": {"factor": "zero", "sharpness": "ok"},
    "op": "SelfAdjointEigV2",
    "line_contains": "values, vectors = tf.linalg.eigh(self.metric())",
}
import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(609)
POINTS = tf.constant(RNG.normal(size=(8, 4)) * [1.0, 3.0, 0.5, 2.0], tf.float32)
GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 1])
SAME = tf.constant((GROUP[:, None] == GROUP[None]).astype("float32"))


class MetricProjection(tf.Module):
    def __init__(self, start, keep=2):
        super().__init__()
        self.factor = tf.Variable(start, name="factor")
        self.sharpness = tf.Variable(0.8, name="sharpness")
        self.keep = keep

    def metric(self):
        return tf.matmul(self.factor, self.factor, transpose_a=True)

    def __call__(self, points):
        values, vectors = tf.linalg.eigh(self.metric())
        top = vectors[:, -self.keep :]
        return tf.matmul(points, top)


def neighbour_loss(model):
    flat = model(POINTS)
    gap = tf.reduce_sum(tf.square(flat[:, None] - flat[None]), axis=-1)
    logits = -tf.nn.softplus(model.sharpness) * gap - 1e9 * tf.eye(8)
    share = tf.nn.softmax(logits)
    return -tf.reduce_mean(tf.math.log(tf.reduce_sum(share * SAME, axis=1) + 1e-6))


def _go(start):
    model = MetricProjection(start)
    return (lambda: neighbour_loss(model)), [model.factor, model.sharpness]


def build():
    return _go(tf.eye(4))


def fixed():
    return _go(tf.eye(4) + 0.2 * tf.random.stateless_normal([4, 4], seed=[60, 9]))

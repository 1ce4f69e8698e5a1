"""A triplet network meets a batch in which anchor and positive are the same sample, at distance exactly zero."""

SOURCE = "tensorflow/tensorflow#30199"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {
        "triplet/tower_a/kernel": "nonfinite",
        "triplet/tower_a/bias": "nonfinite",
        "triplet/tower_b/kernel": "nonfinite",
        "margin": "ok",
        "projector": "none",
    },
    "op": "Sqrt",
    "line_contains": "return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=-1))",
}
import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(602)
PICTURES = tf.constant(RNG.normal(size=(8, 5)), tf.float32)
LABELS = np.array([0, 0, 1, 1, 2, 2, 3, 3])


def _triplets(allow_same):
    rows = []
    for a in range(len(LABELS)):
        same = [i for i in np.flatnonzero(LABELS == LABELS[a]) if allow_same or i != a]
        other = np.flatnonzero(LABELS != LABELS[a])
        rows.append((a, same[0], other[a % len(other)]))
    return np.array(rows)


def distance(u, v):
    return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=-1))


class Triplet(tf.keras.Model):
    def __init__(self):
        super().__init__(name="triplet")
        self.a = tf.keras.layers.Dense(6, activation="tanh", name="tower_a")
        self.b = tf.keras.layers.Dense(3, use_bias=False, name="tower_b")

    def call(self, x):
        return self.b(self.a(x))


def _setup():
    tf.keras.utils.set_random_seed(2)
    net = Triplet()
    net(PICTURES)
    margin = tf.Variable(2.0, name="margin")
    projector = tf.Variable(tf.eye(3), name="projector")  # only the published linear probe reads it
    return net, margin, projector


def _loss(net, margin, rows):
    z = net(PICTURES)
    anchor, positive, negative = (tf.gather(z, rows[:, k]) for k in range(3))
    gap = distance(anchor, positive) - distance(anchor, negative)
    return tf.reduce_mean(tf.nn.softplus(gap + margin)) + 0.01 * tf.square(margin - 1.0)


def build():
    net, margin, projector = _setup()
    rows = _triplets(allow_same=True)
    return (lambda: _loss(net, margin, rows)), net.trainable_variables + [margin, projector]


def fixed():
    net, margin, _ = _setup()
    rows = _triplets(allow_same=False)
    return (lambda: _loss(net, margin, rows)), net.trainable_variables + [margin]

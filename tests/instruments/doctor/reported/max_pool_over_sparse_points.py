"""A point network pools the features of a sparse matrix with a maximum whose operation has no backward rule."""

SOURCE = "tensorflow/tensorflow#54214"
CAUSE = "no-registered-gradient"
EXPECT = {
    "status": {},
    "raises": "LookupError",
    "op": "SparseReduceMax",
    "line_contains": "tf.sparse.reduce_max(cloud, axis=1)",
}
import tensorflow as tf

PLACES = [[0, 1], [0, 3], [1, 0], [2, 2]]


def _go(pool):
    feats = tf.Variable([0.4, 1.2, -0.3, 0.8], name="feats")

    def fn():
        cloud = tf.sparse.SparseTensor(PLACES, tf.sin(feats), [3, 4])
        return tf.reduce_sum(tf.square(pool(cloud)))

    return fn, [feats]


def build():
    def pool(cloud):
        return tf.sparse.reduce_max(cloud, axis=1)

    return _go(pool)


def fixed():
    def pool(cloud):
        return tf.math.segment_max(cloud.values, cloud.indices[:, 0])

    return _go(pool)

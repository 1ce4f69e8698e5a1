"""Attention rows are edited as a nested Python list because tensors do not allow item assignment; the projections before it stop learning."""

SOURCE = "manjimnav/Informer-Tensorflow#1"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {"query": "none", "value": "none", "out": "ok"},
    "op": "numpy()",
    "op_any": ["numpy()", "tolist()", ".numpy()", "numpy", "tolist"],
    "line_contains": "rows = context.numpy().tolist()",
}
import tensorflow as tf

X = tf.random.stateless_normal([5, 3], seed=[6, 1])


class Attend(tf.Module):
    def __init__(self):
        super().__init__()
        self.query = tf.Variable(tf.random.stateless_normal([3, 3], seed=[6, 2]), name="query")
        self.value = tf.Variable(tf.random.stateless_normal([3, 3], seed=[6, 3]), name="value")
        self.out = tf.Variable(tf.random.stateless_normal([3, 1], seed=[6, 4]), name="out")

    def context(self):
        scores = tf.nn.softmax(tf.matmul(X @ self.query, X, transpose_b=True))
        return scores @ (X @ self.value)


class ListEdit(Attend):
    def __call__(self):
        context = self.context()
        rows = context.numpy().tolist()
        rows[0] = [0.0, 0.0, 0.0]
        mixed = tf.constant(rows)
        return tf.reduce_mean(tf.square(mixed @ self.out - 1.0))


class TensorEdit(Attend):
    def __call__(self):
        mixed = tf.tensor_scatter_nd_update(self.context(), [[0]], [[0.0, 0.0, 0.0]])
        return tf.reduce_mean(tf.square(mixed @ self.out - 1.0))


def _go(kind):
    m = kind()
    return m, [m.query, m.value, m.out]


def build():
    return _go(ListEdit)


def fixed():
    return _go(TensorEdit)

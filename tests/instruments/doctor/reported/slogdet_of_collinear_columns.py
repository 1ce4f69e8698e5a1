"""The log-determinant of a Gram matrix with two equal columns is minus infinity; its backward pass inverts the matrix and raises."""

SOURCE = "tensorflow/tensorflow#64225"
CAUSE = "degenerate-linalg"
EXPECT = {
    "status": {},
    "raises": "InvalidArgumentError",
    "op": "LogMatrixDeterminant",
    "op_any": ["LogMatrixDeterminant", "MatrixInverse"],
    "line_contains": "_, volume = tf.linalg.slogdet(gram)",
}
import tensorflow as tf


def _go(second):
    basis = tf.Variable([[1.0, second], [2.0, 2.0]], name="basis")

    def fn():
        gram = tf.matmul(basis, basis, transpose_a=True)
        _, volume = tf.linalg.slogdet(gram)
        return tf.reduce_sum(tf.square(basis)) - volume

    return fn, [basis]


def build():
    return _go(1.0)


def fixed():
    return _go(-0.5)

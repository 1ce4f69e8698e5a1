"""Two faults at once: a learned step chooses rows by a floored index, and a learned offset starts where a length is exactly zero."""

SOURCE = "tensorflow/tensorflow#42889 (norm), tensorflow/tensorflow#58614 (rounded index)"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"stride": "none", "offset": "nonfinite", "table": "nonfinite"},
    "op": "Sqrt",
    "op_any": ["Sqrt", "Floor"],
    "line_contains": "tf.sqrt(tf.reduce_sum(tf.square(rows - anchor)",
    "line_any": ["tf.floor(stride * tf.range(3.0))"],
    "causes": {"stride": "nondiff-op", "offset": "nan-singular-point", "table": "nan-singular-point"},
}
import tensorflow as tf

BASE = tf.constant([[1.0, 0.0], [2.0, 1.0], [0.5, 0.5], [3.0, -1.0], [1.5, 2.0]])


def _vars():
    return tf.Variable(1.6, name="stride"), tf.Variable([0.0, 0.0], name="offset"), tf.Variable(BASE, name="table")


def build():
    stride, offset, table = _vars()

    def fn():
        index = tf.cast(tf.floor(stride * tf.range(3.0)), tf.int32)
        rows = tf.gather(table, index)
        anchor = BASE[0] + offset
        length = tf.sqrt(tf.reduce_sum(tf.square(rows - anchor), axis=1))
        return tf.reduce_mean(tf.square(length - 1.0))

    return fn, [stride, offset, table]


def fixed():
    stride, offset, table = _vars()

    def fn():
        place = stride * tf.range(3.0)
        weights = tf.nn.relu(1.0 - tf.abs(place[:, None] - tf.range(5.0)[None]))
        rows = weights @ table
        anchor = BASE[0] + offset
        length = tf.sqrt(tf.reduce_sum(tf.square(rows - anchor), axis=1) + 1e-3)
        return tf.reduce_mean(tf.square(length - 1.0))

    return fn, [stride, offset, table]

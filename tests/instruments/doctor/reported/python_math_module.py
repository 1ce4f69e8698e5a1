"""The distance to a landmark is taken with Python's math module, which quietly asks each tensor for a float."""

SOURCE = "common mistake"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {"place": "none", "bias": "ok"},
    "op": "float()",
    "op_any": ["float()", "__float__", "math.hypot"],
    "line_contains": "math.hypot(place[0] - mx",
}
import math

import tensorflow as tf

MARKS = [(0.0, 1.0), (2.0, -0.5), (-1.0, -1.0)]
SEEN = [1.1, 2.0, 1.9]


def _vars():
    return tf.Variable([0.4, 0.1], name="place"), tf.Variable(0.05, name="bias")


def build():
    place, bias = _vars()

    def fn():
        errors = [
            tf.square(bias + math.hypot(place[0] - mx, place[1] - my) - seen) for (mx, my), seen in zip(MARKS, SEEN)
        ]
        return tf.add_n(errors)

    return fn, [place, bias]


def fixed():
    place, bias = _vars()

    def fn():
        errors = [tf.square(bias + tf.norm(place - mark) - seen) for mark, seen in zip(MARKS, SEEN)]
        return tf.add_n(errors)

    return fn, [place, bias]

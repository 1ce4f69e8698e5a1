"""Recurrent states are written row by row into a buffer variable inside a compiled loop and read back for the loss."""

SOURCE = "tensorflow/tensorflow#23646"
CAUSE = "assign-state"
EXPECT = {
    "status": {"inner": "none", "readout": "ok"},
    "op": "ResourceScatterNdUpdate",
    "op_any": ["ResourceScatterNdUpdate", "scatter_nd_update", "ScatterNdUpdate"],
    "line_contains": "buffer.scatter_nd_update([[t]], [state])",
}
import tensorflow as tf

X = tf.random.stateless_normal([4, 2], seed=[13, 1])


def _vars():
    return (
        tf.Variable(tf.random.stateless_normal([2, 2], seed=[13, 2]), name="inner"),
        tf.Variable(tf.random.stateless_normal([2, 1], seed=[13, 3]), name="readout"),
    )


def build():
    inner, readout = _vars()
    buffer = tf.Variable(tf.zeros([4, 2]), trainable=False, name="buffer")

    @tf.function
    def fn():
        state = tf.zeros([2])
        for t in tf.range(4):
            state = tf.tanh(X[t] + tf.linalg.matvec(inner, state + 0.3))
            buffer.scatter_nd_update([[t]], [state])
        return tf.reduce_mean(tf.square(buffer @ readout - 0.5))

    return fn, [inner, readout]


def fixed():
    inner, readout = _vars()

    @tf.function
    def fn():
        state = tf.zeros([2])
        steps = tf.TensorArray(tf.float32, size=4)
        for t in tf.range(4):
            state = tf.tanh(X[t] + tf.linalg.matvec(inner, state + 0.3))
            steps = steps.write(t, state)
        return tf.reduce_mean(tf.square(steps.stack() @ readout - 0.5))

    return fn, [inner, readout]

"""One branch of a compiled switch puts the signal on a grid with Python's floor division operator."""

SOURCE = "common mistake"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"signal": "zero", "level": "ok"},
    "op": "FloorDiv",
    "line_contains": "lambda: (signal // 0.25) * 0.25",
}
import tensorflow as tf


def _go(mode):
    signal, level = tf.Variable([0.6, -0.3, 1.2], name="signal"), tf.Variable(0.4, name="level")

    @tf.function
    def forward(mode):
        shaped = tf.switch_case(
            mode,
            [
                lambda: tf.nn.softplus(signal),
                lambda: (signal // 0.25) * 0.25,
                lambda: tf.sin(signal) * 0.25,
            ],
        )
        return tf.reduce_mean(tf.square(shaped - level))

    return (lambda: forward(tf.constant(mode))), [signal, level]


def build():
    return _go(1)


def fixed():
    return _go(2)

"""Automatic watching is switched off to save memory and only one of two coefficients is handed to watch."""

SOURCE = "keras-team/keras#19155"
CAUSE = "not-watched"
EXPECT = {
    "status": {"rate": "ok", "offset": "none"},
    "op": "tape.watch missing",
    "op_any": ["tape.watch missing", "watch_accessed_variables=False"],
    "line_contains": "with tf.GradientTape(watch_accessed_variables=False) as tape:",
    "line_any": ["tape.watch(rate)", "tape.gradient(misfit"],
}
import tensorflow as tf

T = tf.linspace(0.0, 2.0, 9)
SEEN = 3.0 * tf.exp(-1.1 * T) + 0.4


def _vars():
    return tf.Variable(0.7, name="rate"), tf.Variable(0.1, name="offset")


def run():
    rate, offset = _vars()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(rate)
        misfit = tf.reduce_mean(tf.square(3.0 * tf.exp(-rate * T) + offset - SEEN))
    return tape.gradient(misfit, [rate, offset])


def fixed():
    rate, offset = _vars()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([rate, offset])
        misfit = tf.reduce_mean(tf.square(3.0 * tf.exp(-rate * T) + offset - SEEN))
    return tape.gradient(misfit, [rate, offset])

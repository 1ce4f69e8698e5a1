"""To save memory the recording is paused around what was meant to be logging, and the hidden layer stands inside."""

SOURCE = "common mistake"
CAUSE = "outside-tape"
EXPECT = {
    "status": {"w_in": "none"},
    "op": "stop_recording",
    "line_contains": "with tape.stop_recording():",
    "line_any": ["hidden = tf.nn.relu(X @ w_in)"],
}
import tensorflow as tf

X = tf.constant([[0.3, 0.8], [1.0, -0.4]])


def _vars():
    return tf.Variable([[0.5, 0.2, 0.4], [0.3, 0.7, 0.1]], name="w_in"), tf.Variable(
        [[0.6], [-0.4], [0.2]], name="w_out"
    )


def run():
    w_in, w_out = _vars()
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            hidden = tf.nn.relu(X @ w_in)
            tf.debugging.assert_all_finite(hidden, "hidden")
        loss = tf.reduce_mean(tf.square(hidden @ w_out - 1.0))
    return tape.gradient(loss, [w_in, w_out])


def fixed():
    w_in, w_out = _vars()
    with tf.GradientTape() as tape:
        inner = tf.nn.relu(X @ w_in)
        with tape.stop_recording():
            tf.debugging.assert_all_finite(inner, "hidden")
        loss = tf.reduce_mean(tf.square(inner @ w_out - 1.0))
    return tape.gradient(loss, [w_in, w_out])

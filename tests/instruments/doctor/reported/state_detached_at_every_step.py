"""Truncated recurrence detaches the whole nested state at every step by mapping over it, so the start state never learns."""

SOURCE = "common mistake"
CAUSE = "stop-gradient"
EXPECT = {
    "status": {"h0": "none", "c0": "none", "mix": "ok"},
    "op": "StopGradient",
    "line_contains": "state = tf.nest.map_structure(tf.stop_gradient, state)",
}
import tensorflow as tf

SERIES = tf.constant([0.3, -0.8, 1.2, 0.5])


def step(x, state, mix):
    c = 0.7 * state["c"] + 0.3 * tf.tanh(mix * x + state["h"])
    return {"h": tf.sin(c), "c": c}


def _go(cut_at):
    h0, c0 = tf.Variable([0.1, 0.2], name="h0"), tf.Variable([-0.3, 0.5], name="c0")
    mix = tf.Variable(0.9, name="mix")

    def fn():
        state, total = {"h": tf.identity(h0), "c": tf.identity(c0)}, 0.0
        for k, x in enumerate(tf.unstack(SERIES)):
            if k in cut_at:
                state = tf.nest.map_structure(tf.stop_gradient, state)
            state = step(x, state, mix)
            total += tf.reduce_sum(tf.square(state["h"] - 0.4))
        return total

    return fn, [h0, c0, mix]


def build():
    return _go((0, 1, 2, 3))


def fixed():
    return _go((2,))

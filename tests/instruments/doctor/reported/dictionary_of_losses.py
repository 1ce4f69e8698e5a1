"""Losses and parameters are kept in dictionaries; the auxiliary loss is put in after the recording block has closed."""

SOURCE = "common mistake"
CAUSE = "outside-tape"
EXPECT = {
    "status": {"aux_w": "none"},
    "op": "call outside tape",
    "line_contains": 'losses["aux"] = tf.reduce_mean(tf.abs(tf.linalg.matvec(X, params["aux"])))',
}
import tensorflow as tf

X = tf.constant([[0.5, -1.0], [1.5, 0.2]])


def _params():
    return {"aux": tf.Variable([0.3, 0.9], name="aux_w"), "main": tf.Variable([-0.4, 0.6], name="main_w")}


def run():
    params, losses = _params(), {}
    with tf.GradientTape() as tape:
        losses["main"] = tf.reduce_mean(tf.square(tf.linalg.matvec(X, params["main"]) - 1.0))
    losses["aux"] = tf.reduce_mean(tf.abs(tf.linalg.matvec(X, params["aux"])))
    return tape.gradient(losses, params)


def fixed():
    params, losses = _params(), {}
    with tf.GradientTape() as tape:
        losses["main"] = tf.reduce_mean(tf.square(tf.linalg.matvec(X, params["main"]) - 1.0))
        losses["aux"] = tf.reduce_mean(tf.abs(tf.linalg.matvec(X, params["aux"]) - 0.5))
    return tape.gradient(losses, params)

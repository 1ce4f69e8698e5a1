"""A half-precision detector averages a tiny rare-event loss without loss scaling; every gradient underflows to zero."""

SOURCE = "keras-team/keras#19244"
CAUSE = "mixed-precision"
EXPECT = {
    "status": {
        "trigger/scan/kernel": "zero",
        "trigger/scan/bias": "zero",
        "trigger/peak/kernel": "zero",
        "trigger/peak/bias": "zero",
    },
    "op": "Cast",
    "op_any": ["Mul", "RealDiv", "Mean"],
    "line_contains": "logits = tf.cast(net(EVENTS), tf.float32)",
    "line_any": ["return RARE * tf.reduce_mean(weighted)", "weighted = tf.nn.sigmoid_cross_entropy_with_logits("],
}
import tensorflow as tf

EVENTS = tf.random.stateless_normal([16, 6], seed=[61, 6])
HITS = tf.cast(tf.random.stateless_uniform([16, 1], seed=[61, 7]) > 0.8, tf.float32)
RARE = 1e-8  # share of events that survive the trigger


def _net():
    tf.keras.utils.set_random_seed(615)
    half = tf.keras.DTypePolicy("mixed_float16")
    net = tf.keras.Sequential(
        name="trigger",
        layers=[
            tf.keras.Input((6,)),
            tf.keras.layers.Dense(8, activation="tanh", dtype=half, name="scan"),
            tf.keras.layers.Dense(1, dtype=half, name="peak"),
        ],
    )
    return net


def objective(net):
    logits = tf.cast(net(EVENTS), tf.float32)
    weighted = tf.nn.sigmoid_cross_entropy_with_logits(HITS, logits) * (1.0 + 3.0 * HITS)
    return RARE * tf.reduce_mean(weighted)


def build():
    net = _net()
    return (lambda: objective(net)), net.trainable_variables


def fixed():
    net = _net()
    optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), initial_scale=2.0**28)
    optimizer.build(net.trainable_variables)
    return (lambda: optimizer.scale_loss(objective(net))), net.trainable_variables

"""One minus the result of an intersection-over-union metric object is minimised directly."""

SOURCE = "Golbstein/KerasExtras#1"
CAUSE = "metric-as-loss"
EXPECT = {
    "status": {"mask/kernel": "none", "mask/bias": "none"},
    "op": "metric",
    "op_any": [
        "metric",
        "AssignAddVariableOp",
        "AssignVariableOp",
        "GreaterEqual",
        "Greater",
        "Cast",
        "BinaryIoU",
        "update_state",
    ],
    "line_contains": "overlap.update_state(MASK, p)",
    "line_any": ["1.0 - overlap.result()"],
}
import tensorflow as tf

IMG = tf.random.stateless_uniform([2, 5, 5, 1], seed=[16, 1])
MASK = tf.cast(IMG > 0.5, tf.float32)


def _conv():
    tf.keras.utils.set_random_seed(38)
    conv = tf.keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid", name="mask")
    conv.build((None, 5, 5, 1))
    return conv


def build():
    conv = _conv()
    overlap = tf.keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.5)

    def fn():
        p = conv(IMG)
        overlap.reset_state()
        overlap.update_state(MASK, p)
        return 1.0 - overlap.result()

    return fn, conv.trainable_variables


def fixed():
    conv = _conv()

    def fn():
        p = conv(IMG)
        both = tf.reduce_sum(p * MASK)
        return 1.0 - both / (tf.reduce_sum(p) + tf.reduce_sum(MASK) - both + 1e-6)

    return fn, conv.trainable_variables

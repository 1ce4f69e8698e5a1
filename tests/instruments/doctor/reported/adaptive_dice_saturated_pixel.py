"""A self-adjusting Dice loss raises (1 - p) to a small power; one pixel is already classified with p equal to one."""

SOURCE = "ShannonAI/dice_loss_for_NLP#6"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {
        "unet/seg_a/kernel": "nonfinite",
        "unet/seg_a/bias": "nonfinite",
        "unet/seg_b/kernel": "nonfinite",
        "unet/seg_b/bias": "nonfinite",
    },
    "op": "Pow",
    "line_contains": "focus = (1.0 - p) ** ALPHA",
}
import numpy as np
import tensorflow as tf

ALPHA, SMOOTH = 0.1, 1e-6


def _scan():
    rng = np.random.default_rng(610)
    scan = rng.normal(scale=0.3, size=(2, 6, 6, 1)).astype("float32")
    scan[0, 2:4, 2:4, 0] += 1.5
    scan[1, 0, 0, 0] = 400.0  # a hot detector cell
    mask = np.zeros_like(scan)
    mask[0, 2:4, 2:4] = 1.0
    mask[1, 0, 0] = 1.0
    return tf.constant(scan), tf.constant(mask)


def _segmenter():
    tf.keras.utils.set_random_seed(610)
    positive = tf.keras.initializers.RandomUniform(0.2, 0.6, seed=1)
    return tf.keras.Sequential(
        name="unet",
        layers=[
            tf.keras.Input((6, 6, 1)),
            tf.keras.layers.Conv2D(
                4, 3, padding="same", activation="softplus", kernel_initializer=positive, name="seg_a"
            ),
            tf.keras.layers.Conv2D(1, 1, activation="sigmoid", kernel_initializer=positive, name="seg_b"),
        ],
    )


def adaptive_dice(y, p):
    focus = (1.0 - p) ** ALPHA
    overlap = tf.reduce_sum(focus * p * y, axis=[1, 2, 3])
    total = tf.reduce_sum(focus * p + y, axis=[1, 2, 3])
    return tf.reduce_mean(1.0 - (2.0 * overlap + SMOOTH) / (total + SMOOTH))


def guarded_dice(y, p):
    focus = (1.0 - tf.minimum(p, 1.0 - 1e-5)) ** ALPHA
    overlap = tf.reduce_sum(focus * p * y, axis=[1, 2, 3])
    total = tf.reduce_sum(focus * p + y, axis=[1, 2, 3])
    return tf.reduce_mean(1.0 - (2.0 * overlap + SMOOTH) / (total + SMOOTH))


def _go(loss):
    net = _segmenter()
    scan, mask = _scan()
    return (lambda: loss(mask, net(scan))), net.trainable_variables


def build():
    return _go(adaptive_dice)


def fixed():
    return _go(guarded_dice)

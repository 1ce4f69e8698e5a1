"""A custom loss given to compile compares value histograms of prediction and target; counts have no derivative."""

SOURCE = "tensorflow/tensorflow#14894"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {"tone/kernel": "none"},
    "op": "HistogramFixedWidth",
    "op_any": [
        "HistogramFixedWidth",
        "Cast",
        "Bincount",
        "DenseBincount",
        "Floor",
        "UnsortedSegmentSum",
        "histogram_fixed_width",
    ],
    "line_contains": "got = tf.histogram_fixed_width(y_pred",
}
import numpy as np
import tensorflow as tf

X = np.random.RandomState(2).rand(16, 3).astype("float32")
Y = np.random.RandomState(3).rand(16, 2).astype("float32")


def histogram_loss(y_true, y_pred):
    got = tf.histogram_fixed_width(y_pred, [0.0, 1.0], nbins=4)
    want = tf.histogram_fixed_width(y_true, [0.0, 1.0], nbins=4)
    return tf.reduce_mean(tf.square(tf.cast(got - want, tf.float32)))


def soft_histogram_loss(y_true, y_pred):
    centres = tf.constant([0.125, 0.375, 0.625, 0.875])

    def soft(v):
        return tf.reduce_sum(tf.exp(-tf.square((tf.reshape(v, [-1, 1]) - centres) / 0.15)), axis=0)

    return tf.reduce_mean(tf.square(soft(y_pred) - soft(y_true)))


def _fit(loss):
    tf.keras.utils.set_random_seed(37)
    net = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(2, activation="sigmoid", use_bias=False, name="tone")]
    )
    net.compile(optimizer="sgd", loss=loss)
    net.fit(X, Y, batch_size=16, epochs=1, verbose=0)


def run():
    _fit(histogram_loss)


def fixed():
    _fit(soft_histogram_loss)

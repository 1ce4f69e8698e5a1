"""A rendered map is blurred by a SciPy filter inside the loss, so only the separate gain penalty still trains."""

SOURCE = "aymericdamien/TensorFlow-Examples#40"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {"depth": "none", "gain": "ok"},
    "op": "np.asarray",
    "op_any": ["np.asarray", "np.asarray()", "numpy()", "__array__", "__array__()", "gaussian_filter", "np.array"],
    "line_contains": "gaussian_filter(np.asarray(scene)",
}
import numpy as np
import tensorflow as tf
from scipy.ndimage import gaussian_filter

AIM = tf.reshape(tf.linspace(0.1, 0.9, 36), [6, 6])


def _vars():
    return tf.Variable(tf.random.stateless_normal([6, 6], seed=[5, 1]), name="depth"), tf.Variable(1.4, name="gain")


def build():
    depth, gain = _vars()

    def fn():
        scene = gain * tf.sigmoid(depth)
        smooth = tf.constant(gaussian_filter(np.asarray(scene), 0.8))
        data = tf.reduce_mean(tf.square(smooth - AIM))
        return data + 0.1 * tf.square(gain - 1.0)

    return fn, [depth, gain]


def fixed():
    depth, gain = _vars()
    line = tf.exp(-tf.square(tf.range(-2.0, 3.0)) / 1.28)
    kernel = line[:, None] * line[None]
    kernel = (kernel / tf.reduce_sum(kernel))[:, :, None, None]

    def fn():
        scene = gain * tf.sigmoid(depth)
        smooth = tf.nn.conv2d(scene[None, :, :, None], kernel, 1, "SAME")[0, :, :, 0]
        data = tf.reduce_mean(tf.square(smooth - AIM))
        return data + 0.1 * tf.square(gain - 1.0)

    return fn, [depth, gain]

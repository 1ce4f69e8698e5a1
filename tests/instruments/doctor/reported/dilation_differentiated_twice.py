"""A smoothness penalty differentiates a morphological dilation layer, whose backward operation has no gradient of its own."""

SOURCE = "tensorflow/tensorflow#6143 (same fault for pooling)"
CAUSE = "second-order-op"
EXPECT = {
    "status": {},
    "raises": "LookupError",
    "op": "Dilation2DBackpropInput",
    "op_any": ["Dilation2DBackpropInput", "Dilation2DBackpropFilter", "Dilation2D"],
    "line_contains": "return tf.nn.dilation2d(pic, shape_w",
}
import tensorflow as tf

PIC = tf.random.stateless_uniform([1, 5, 5, 1], seed=[9, 4])


def dilate(pic, shape_w):
    return tf.nn.dilation2d(pic, shape_w, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])


def convolve(pic, shape_w):
    return tf.nn.conv2d(pic, shape_w[..., None], 1, "VALID")


def _go(layer):
    shape_w = tf.Variable(tf.random.stateless_normal([2, 2, 1], seed=[1, 6], stddev=0.1), name="shape_w")

    def fn():
        pic = tf.identity(PIC)
        with tf.GradientTape() as inner:
            inner.watch(pic)
            height = tf.reduce_sum(tf.square(layer(pic, shape_w)))
        slope = inner.gradient(height, pic)
        return tf.reduce_mean(tf.square(slope))

    return fn, [shape_w]


def build():
    return _go(dilate)


def fixed():
    return _go(convolve)

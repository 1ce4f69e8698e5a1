"""A learned picture is passed through real image compression inside the loss; encoding works on bytes."""

SOURCE = "common mistake"
CAUSE = "int-cast"
EXPECT = {
    "status": {"paint": "none", "tint": "ok"},
    "op": "Cast",
    "op_any": ["Cast", "DecodeJpeg", "EncodeJpegVariableQuality", "adjust_jpeg_quality"],
    "line_contains": "return tf.image.adjust_jpeg_quality(picture, 60)",
}
import tensorflow as tf


def compress(picture):
    return tf.image.adjust_jpeg_quality(picture, 60)


def smooth_noise(picture):
    return picture + tf.random.stateless_normal(picture.shape, seed=[3, 8], stddev=0.02)


def _go(*augmentations):
    paint = tf.Variable(tf.random.stateless_normal([8, 8, 3], seed=[2, 2]), name="paint")
    tint = tf.Variable([0.2, 0.1, -0.1], name="tint")

    def fn():
        picture = tf.sigmoid(paint)
        for change in augmentations:
            picture = change(picture)
        return tf.reduce_mean(tf.square(picture + tint - 0.4))

    return fn, [paint, tint]


def build():
    return _go(smooth_noise, compress, smooth_noise)


def fixed():
    return _go(smooth_noise, smooth_noise)

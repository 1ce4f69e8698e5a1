"""A pixel-wise error is averaged over a large picture in half precision; each pixel's share is too small to represent."""

SOURCE = "tensorflow/tensorflow#47884"
CAUSE = "mixed-precision"
EXPECT = {
    "status": {"bright": "zero"},
    "op": "Cast",
    "op_any": ["Cast", "Mean", "float16", "underflow"],
    "line_contains": "half = tf.cast(bright, tf.float16)",
    "line_any": ["tf.reduce_mean(tf.square(half - AIM))"],
}
import tensorflow as tf

AIM = tf.cast(tf.fill([256, 256], 0.5), tf.float16)


def _var():
    return tf.Variable(tf.fill([256, 256], 0.5005), name="bright")


def build():
    bright = _var()

    def fn():
        half = tf.cast(bright, tf.float16)
        loss = tf.reduce_mean(tf.square(half - AIM))
        return tf.cast(loss, tf.float32)

    return fn, [bright]


def fixed():
    bright = _var()

    def fn():
        half = tf.cast(bright, tf.float16)
        error = tf.cast(half, tf.float32) - tf.cast(AIM, tf.float32)
        return 4096.0 * tf.reduce_mean(tf.square(error))

    return fn, [bright]

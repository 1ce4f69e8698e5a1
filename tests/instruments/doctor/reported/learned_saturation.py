"""A colour-saturation factor is learned through the image operation, which has no backward rule."""

SOURCE = "tensorflow/tensorflow#126083"
CAUSE = "no-registered-gradient"
EXPECT = {
    "status": {},
    "raises": "LookupError",
    "op": "AdjustSaturation",
    "line_contains": "tf.image.adjust_saturation(PHOTO, factor)",
}
import tensorflow as tf

PHOTO = tf.random.stateless_uniform([1, 4, 4, 3], seed=[18, 1])
AIM = tf.random.stateless_uniform([1, 4, 4, 3], seed=[18, 2])


class Grade(tf.keras.layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer=tf.keras.initializers.Constant(1.3), name="factor")


class OpGrade(Grade):
    def call(self, x):
        factor = tf.convert_to_tensor(self.factor)
        return tf.image.adjust_saturation(PHOTO, factor)


class GreyMix(Grade):
    def call(self, x):
        grey = tf.reduce_mean(x, axis=-1, keepdims=True)
        return grey + self.factor * (x - grey)


def _go(kind):
    layer = kind()
    layer.build((None, 4, 4, 3))
    return (lambda: tf.reduce_mean(tf.square(layer(PHOTO) - AIM))), layer.trainable_variables


def build():
    return _go(OpGrade)


def fixed():
    return _go(GreyMix)

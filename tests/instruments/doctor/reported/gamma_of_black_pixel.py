"""Linear light is turned into display values with a fractional power; one pixel is exactly black."""

SOURCE = "tensorflow/tensorflow#2295"
CAUSE = "nan-singular-point"
EXPECT = {"status": {"light": "nonfinite"}, "op": "Pow", "line_contains": "tf.pow(safe, 1.0 / 2.4)"}
import tensorflow as tf

AIM = tf.constant([0.4, 0.2, 0.9, 0.6])


class Display(tf.Module):
    def __init__(self):
        super().__init__()
        self.light = tf.Variable([0.3, 0.0, 0.8, 0.5], name="light")

    def show(self):
        safe = tf.clip_by_value(self.light, 0.0, 1.0)
        return tf.pow(safe, 1.0 / 2.4)

    def show_above_floor(self):
        lifted = tf.clip_by_value(self.light + 1e-4, 1e-4, 1.0)
        return tf.pow(lifted, 1.0 / 2.4)


def build():
    d = Display()
    return (lambda: tf.reduce_mean(tf.square(d.show() - AIM))), [d.light]


def fixed():
    d = Display()
    return (lambda: tf.reduce_mean(tf.square(d.show_above_floor() - AIM))), [d.light]

"""A physics-informed network for u'' = f uses rectifiers; its second derivative is zero and the fit stands still."""

SOURCE = "tensorflow/tensorflow#9398"
CAUSE = "second-order-vanishes"
EXPECT = {
    "status": {
        "field/h1/kernel": "zero",
        "field/h2/kernel": "zero",
        "diffusion": "zero",
        "amplitude": "ok",
        "offset": "none",
    },
    "op": "Relu",
    "op_any": ["ReluGrad"],
    "line_contains": "ACTIVATION = tf.nn.relu",
    "line_any": ["h = self.act(self.h1(x))", "h = self.act(self.h2(h))", "u_xx = outer.gradient(u_x, x)"],
}
import math

import tensorflow as tf

ACTIVATION = tf.nn.relu
X = tf.reshape(tf.linspace(0.05, 0.95, 16), [16, 1])


class Field(tf.keras.layers.Layer):
    def __init__(self, act):
        super().__init__(name="field")
        self.act = act
        self.h1 = tf.keras.layers.Dense(12, use_bias=False, name="h1")
        self.h2 = tf.keras.layers.Dense(12, use_bias=False, name="h2")
        self.mix = tf.random.stateless_normal([12, 1], seed=[6, 4])

    def call(self, x):
        h = self.act(self.h1(x))
        h = self.act(self.h2(h))
        return tf.matmul(h, self.mix)


def _setup(act):
    tf.keras.utils.set_random_seed(604)
    field = Field(act)
    field(X)
    diffusion = tf.Variable(0.7, name="diffusion")
    amplitude = tf.Variable(1.5, name="amplitude")
    offset = tf.Variable([[0.3]], name="offset")
    return field, diffusion, amplitude, offset


def _make(act, with_offset):
    field, diffusion, amplitude, offset = _setup(act)

    def fn():
        x = tf.identity(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = field(x) + (offset * x**2 if with_offset else offset)
            u_x = inner.gradient(u, x)
        u_xx = outer.gradient(u_x, x)
        source = amplitude * tf.sin(math.pi * x)
        return tf.reduce_mean(tf.square(diffusion * u_xx + source))

    return fn, field.trainable_variables + [diffusion, amplitude, offset]


def build():
    return _make(ACTIVATION, False)


def fixed():
    return _make(tf.tanh, True)

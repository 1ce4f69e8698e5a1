"""A decorator, written for target networks and put on the wrong function, detaches everything the function returns."""

SOURCE = "common mistake"
CAUSE = "stop-gradient"
EXPECT = {
    "status": {"q_kernel": "none", "q_bias": "none", "gain": "ok"},
    "op": "StopGradient",
    "line_contains": "return tf.stop_gradient(function(*inputs))",
    "line_any": ["@as_target"],
}
import functools

import tensorflow as tf

S = tf.constant([[0.2, 0.9], [-0.6, 0.4]])
R = tf.constant([1.0, 0.3])


def as_target(function):
    @functools.wraps(function)
    def wrapper(*inputs):
        return tf.stop_gradient(function(*inputs))

    return wrapper


@as_target
def online_value(s, kernel, bias):
    return tf.reduce_max(s @ kernel + bias, axis=1)


def plain_value(s, kernel, bias):
    return tf.reduce_max(s @ kernel + bias, axis=1)


def _go(value):
    kernel = tf.Variable([[0.3, -0.2, 0.5], [0.1, 0.7, 0.4]], name="q_kernel")
    bias, gain = tf.Variable([0.0, 0.1, 0.0], name="q_bias"), tf.Variable(1.0, name="gain")
    return (lambda: tf.reduce_mean(tf.square(gain * value(S, kernel, bias) - R))), [kernel, bias, gain]


def build():
    return _go(online_value)


def fixed():
    return _go(plain_value)

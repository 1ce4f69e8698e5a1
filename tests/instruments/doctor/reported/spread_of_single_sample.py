"""A judge network appends the batch's standard deviation as a feature; with a batch of one it is zero and its slope is not finite."""

SOURCE = "tensorflow/tensorflow#56830"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"judge/body/kernel": "nonfinite", "judge/verdict/kernel": "ok"},
    "op": "Sqrt",
    "op_any": ["Sqrt", "reduce_std"],
    "line_contains": "tf.math.reduce_std(h, axis=0",
}
import tensorflow as tf

X = tf.constant([[0.4, -0.7, 1.1]])


class Judge(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__(name="judge")
        self.body = tf.keras.layers.Dense(4, use_bias=False, name="body")
        self.verdict = tf.keras.layers.Dense(1, use_bias=False, name="verdict")

    def spread(self, h):
        return tf.math.reduce_std(h, axis=0, keepdims=True)

    def call(self, x):
        h = tf.tanh(self.body(x))
        both = tf.concat([h, tf.repeat(self.spread(h), tf.shape(h)[0], axis=0)], axis=1)
        return self.verdict(both)


class SafeJudge(Judge):
    def spread(self, h):
        return tf.sqrt(tf.math.reduce_variance(h, axis=0, keepdims=True) + 1e-6)


def _go(kind):
    tf.keras.utils.set_random_seed(42)
    judge = kind()
    judge(X)
    return (lambda: tf.reduce_mean(tf.square(judge(X) - 1.0))), judge.trainable_variables


def build():
    return _go(Judge)


def fixed():
    return _go(SafeJudge)

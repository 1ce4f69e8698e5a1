"""A saliency map seeds the backward pass with a one-hot row; classes are counted from one, so the last row is all zero."""

SOURCE = "common mistake"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"photo": "zero"},
    "op": "OneHot",
    "op_any": ["OneHot", "output_gradients"],
    "line_contains": "seed = tf.one_hot([wanted], 3)",
    "line_any": ["tape.gradient(scores, photo, output_gradients=seed)", "_saliency(wanted=3)"],
}
import tensorflow as tf

W = tf.random.stateless_normal([4, 3], seed=[3, 1])


def _saliency(wanted):
    photo = tf.Variable([[0.4, 0.9, 0.1, 0.6]], name="photo")
    with tf.GradientTape() as tape:
        scores = tf.tanh(photo) @ W
    seed = tf.one_hot([wanted], 3)
    return tape.gradient(scores, photo, output_gradients=seed)


def run():
    return _saliency(wanted=3)


def fixed():
    return _saliency(wanted=2)

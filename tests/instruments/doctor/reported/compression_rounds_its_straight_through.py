"""A learned compressor builds a straight-through code but rounds the sum once more, which cuts off the encoder."""

SOURCE = "Justin-Tan/generative-compression#51"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {
        "enc/kernel": "none",
        "enc/bias": "none",
        "centres": "none",
        "dec/kernel": "ok",
        "dec/bias": "ok",
        "rate": "zero",
    },
    "op": "Round",
    "line_contains": "code = tf.round(tf.stop_gradient(hard - soft) + soft)",
    "line_any": ["penalty = tf.nn.relu(rate - 2.0)"],
}
import tensorflow as tf

BLOCKS = tf.random.stateless_uniform([6, 8], seed=[61, 9])


def _parts():
    tf.keras.utils.set_random_seed(617)
    enc = tf.keras.layers.Dense(3, name="enc")
    dec = tf.keras.layers.Dense(8, activation="sigmoid", name="dec")
    dec(enc(BLOCKS))
    centres = tf.Variable([-2.0, -1.0, 0.0, 1.0, 2.0], name="centres")
    rate = tf.Variable(0.4, name="rate")
    return enc, dec, centres, rate


def assign_softly(w, centres):
    gap = tf.square(w[..., None] - centres)
    soft = tf.reduce_sum(tf.nn.softmax(-4.0 * gap) * centres, axis=-1)
    hard = tf.gather(centres, tf.argmin(gap, axis=-1))
    return soft, hard


def rounded(w, centres):
    soft, hard = assign_softly(w, centres)
    code = tf.round(tf.stop_gradient(hard - soft) + soft)
    return code


def straight_through(w, centres):
    soft, hard = assign_softly(w, centres)
    return tf.stop_gradient(hard - soft) + soft


def _go(quantise, limit):
    enc, dec, centres, rate = _parts()

    def fn():
        w = enc(BLOCKS)
        restored = dec(quantise(w, centres))
        distortion = tf.reduce_mean(tf.square(restored - BLOCKS))
        penalty = tf.nn.relu(rate - 2.0) if limit else tf.nn.softplus(rate - 2.0)
        return distortion + 0.1 * penalty

    return fn, [*enc.trainable_variables, centres, *dec.trainable_variables, rate]


def build():
    return _go(rounded, True)


def fixed():
    return _go(straight_through, False)

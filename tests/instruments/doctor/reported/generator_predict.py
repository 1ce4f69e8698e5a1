"""A generator's images are produced with predict() inside the adversarial loss; the judge learns and the generator never does."""

SOURCE = "tensorflow/tensorflow#20630"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {"make/kernel": "none", "make/bias": "none", "judge/kernel": "ok", "judge/bias": "ok"},
    "op": "predict",
    "op_any": ["predict", "predict()", "model.predict", "numpy()"],
    "line_contains": "gen.predict(NOISE",
}
import tensorflow as tf

NOISE = tf.random.stateless_normal([6, 2], seed=[7, 1])


def _nets():
    tf.keras.utils.set_random_seed(31)
    z = tf.keras.Input((2,))
    gen = tf.keras.Model(z, tf.keras.layers.Dense(4, activation="tanh", name="make")(z))
    x = tf.keras.Input((4,))
    disc = tf.keras.Model(x, tf.keras.layers.Dense(1, name="judge")(x))
    return gen, disc


def build():
    gen, disc = _nets()

    def fn():
        fake = gen.predict(NOISE, verbose=0)
        verdict = disc(fake)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(verdict), verdict))

    return fn, gen.trainable_variables + disc.trainable_variables


def fixed():
    gen, disc = _nets()

    def fn():
        verdict = disc(gen(NOISE))
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(verdict), verdict))

    return fn, gen.trainable_variables + disc.trainable_variables

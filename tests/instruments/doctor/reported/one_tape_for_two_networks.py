"""A GAN step records both losses on one ordinary tape and asks it twice, once for each network."""

SOURCE = "manicman1999/StyleGAN2-Tensorflow-2.0#14"
CAUSE = "tape-reuse"
EXPECT = {
    "status": {},
    "raises": "RuntimeError",
    "op": "tape.gradient",
    "op_any": ["tape.gradient", "GradientTape.gradient", "tape.gradient()"],
    "line_contains": "d_grads = tape.gradient(d_loss",
    "line_any": ["with tf.GradientTape() as tape:"],
}
import tensorflow as tf

NOISE = tf.random.stateless_normal([4, 2], seed=[23, 1])
REAL = tf.random.stateless_normal([4, 3], seed=[23, 2])


def _nets():
    tf.keras.utils.set_random_seed(44)
    gen = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, name="gen")])
    disc = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, name="disc")])
    return gen, disc


def _losses(gen, disc):
    fake, real = disc(gen(NOISE)), disc(REAL)
    ce = tf.nn.sigmoid_cross_entropy_with_logits
    g_loss = tf.reduce_mean(ce(tf.ones_like(fake), fake))
    d_loss = tf.reduce_mean(ce(tf.ones_like(real), real)) + tf.reduce_mean(ce(tf.zeros_like(fake), fake))
    return g_loss, d_loss


def run():
    gen, disc = _nets()
    with tf.GradientTape() as tape:
        g_loss, d_loss = _losses(gen, disc)
    g_grads = tape.gradient(g_loss, gen.trainable_variables)
    d_grads = tape.gradient(d_loss, disc.trainable_variables)
    return g_grads, d_grads


def fixed():
    gen, disc = _nets()
    with tf.GradientTape(persistent=True) as tape:
        g_loss, d_loss = _losses(gen, disc)
    g_grads = tape.gradient(g_loss, gen.trainable_variables)
    d_grads = tape.gradient(d_loss, disc.trainable_variables)
    return g_grads, d_grads

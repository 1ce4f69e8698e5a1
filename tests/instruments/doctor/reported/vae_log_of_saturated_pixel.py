"""A variational autoencoder takes the Bernoulli likelihood by hand; a white pixel is rebuilt as exactly one."""

SOURCE = "hwalsuklee/tensorflow-mnist-VAE#4"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {
        "vae/vae_enc/kernel": "nonfinite",
        "vae/vae_enc/bias": "nonfinite",
        "vae_dec/kernel": "nonfinite",
        "vae_dec/bias": "nonfinite",
        "prior_log_var": "ok",
        "decoder_log_var": "none",
    },
    "op": "Log",
    "line_contains": "tf.math.log(1.0 - y)",
    "line_any": ["y = tf.sigmoid(vae.dec(z))"],
}
import tensorflow as tf

DIGITS = tf.cast(tf.random.stateless_uniform([4, 9], seed=[61, 10]) > 0.5, tf.float32)
DIGITS = tf.concat([tf.ones([4, 1]), DIGITS[:, 1:]], axis=1)
NOISE = tf.random.stateless_normal([4, 2], seed=[61, 11])


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__(name="vae")
        self.enc = tf.keras.layers.Dense(4, name="vae_enc")
        self.dec = tf.keras.layers.Dense(9, name="vae_dec")
        self.prior_log_var = tf.Variable([0.1, -0.2], name="prior_log_var")
        self.decoder_log_var = tf.Variable(0.0, name="decoder_log_var")  # left over from the Gaussian decoder

    def call(self, x):
        mean, log_var = tf.split(self.enc(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * log_var) * NOISE
        prior = self.prior_log_var
        kl = 0.5 * tf.reduce_sum(prior - log_var + (tf.exp(log_var) + mean**2) / tf.exp(prior) - 1.0, axis=-1)
        return z, kl

    def everything(self):
        return [*self.enc.trainable_variables, *self.dec.trainable_variables, self.prior_log_var]


def _trained_for_a_while():
    tf.keras.utils.set_random_seed(618)
    vae = VAE()
    z, _ = vae(DIGITS)
    vae.dec(z)
    vae.dec.bias.assign([25.0] + [0.0] * 8)  # the corner pixel is white in every picture
    return vae


def build():
    vae = _trained_for_a_while()

    def fn():
        z, kl = vae(DIGITS)
        y = tf.sigmoid(vae.dec(z))
        likelihood = tf.reduce_sum(DIGITS * tf.math.log(y) + (1.0 - DIGITS) * tf.math.log(1.0 - y), axis=-1)
        return tf.reduce_mean(kl - likelihood)

    return fn, [*vae.everything(), vae.decoder_log_var]


def fixed():
    vae = _trained_for_a_while()

    def fn():
        z, kl = vae(DIGITS)
        cross = tf.nn.sigmoid_cross_entropy_with_logits(DIGITS, vae.dec(z))
        return tf.reduce_mean(kl + tf.reduce_sum(cross, axis=-1))

    return fn, vae.everything()

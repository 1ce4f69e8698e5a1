"""Two tapes follow one another in an adversarial step; the generator ran under the first, its gradient is asked from the second."""

SOURCE = "common mistake"
CAUSE = "outside-tape"
EXPECT = {
    "status": {"gen_w": "none"},
    "op": "call outside tape",
    "line_contains": "gen_grad = disc_tape.gradient(gen_loss, gen_w)",
    "line_any": ["fake = tf.tanh(NOISE @ gen_w)", "gen_loss = -tf.reduce_mean(fake @ disc_w)"],
}
import tensorflow as tf

NOISE = tf.random.stateless_normal([4, 2], seed=[7, 1])
REAL = tf.random.stateless_normal([4, 3], seed=[7, 2])


def _vars():
    return (
        tf.Variable([[0.3, -0.5, 0.2], [0.6, 0.1, -0.4]], name="gen_w"),
        tf.Variable([[0.4], [-0.2], [0.9]], name="disc_w"),
    )


def run():
    gen_w, disc_w = _vars()
    with tf.GradientTape() as gen_tape:
        fake = tf.tanh(NOISE @ gen_w)
    with tf.GradientTape(persistent=True) as disc_tape:
        disc_loss = tf.reduce_mean(tf.nn.softplus(fake @ disc_w) + tf.nn.softplus(-REAL @ disc_w))
        gen_loss = -tf.reduce_mean(fake @ disc_w)
    disc_grad = disc_tape.gradient(disc_loss, disc_w)
    gen_grad = disc_tape.gradient(gen_loss, gen_w)
    return gen_grad, disc_grad


def fixed():
    gen_w, disc_w = _vars()
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        made = tf.tanh(NOISE @ gen_w)
        disc_loss = tf.reduce_mean(tf.nn.softplus(made @ disc_w) + tf.nn.softplus(-REAL @ disc_w))
        gen_loss = -tf.reduce_mean(made @ disc_w)
    return gen_tape.gradient(gen_loss, gen_w), disc_tape.gradient(disc_loss, disc_w)

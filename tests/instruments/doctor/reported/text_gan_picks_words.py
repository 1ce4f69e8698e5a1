"""A sentence-making GAN hands its critic the most likely word ids; the critic trains and the generator does not."""

SOURCE = "dbpedia/RDF2text-GAN#1"
CAUSE = "nondiff-op"
EXPECT = {
    "status": {
        "gen_h/kernel": "none",
        "gen_h/bias": "none",
        "gen_words/kernel": "none",
        "gen_words/bias": "none",
        "words/embeddings": "ok",
        "verdict/kernel": "ok",
        "verdict/bias": "ok",
    },
    "op": "ArgMax",
    "line_contains": "ids = tf.argmax(logits, axis=-1)",
}
import tensorflow as tf

VOCAB, LENGTH = 7, 4
REAL = tf.constant([[1, 2, 3, 4], [1, 5, 3, 6], [2, 2, 4, 0]])
BCE = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def _players():
    tf.keras.utils.set_random_seed(607)
    gen = tf.keras.Sequential(
        [
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(10, activation="tanh", name="gen_h"),
            tf.keras.layers.Dense(LENGTH * VOCAB, name="gen_words"),
            tf.keras.layers.Reshape((LENGTH, VOCAB)),
        ]
    )
    words = tf.keras.layers.Embedding(VOCAB, 5, name="words")
    verdict = tf.keras.layers.Dense(1, name="verdict")
    words(REAL)
    verdict(tf.zeros([1, 5]))
    return gen, words, verdict


def hard(logits, words):
    ids = tf.argmax(logits, axis=-1)
    return words(ids)


def soft(logits, words):
    return tf.einsum("blv,ve->ble", tf.nn.softmax(logits / 0.7), tf.convert_to_tensor(words.embeddings))


def _round(read):
    gen, words, verdict = _players()
    critic_vars = words.trainable_variables + verdict.trainable_variables
    opt_g, opt_c = tf.keras.optimizers.Adam(1e-2), tf.keras.optimizers.Adam(1e-2)
    for step in range(2):
        noise = tf.random.stateless_normal([3, 3], seed=[607, step])
        with tf.GradientTape() as gen_tape, tf.GradientTape() as critic_tape:
            fake = verdict(tf.reduce_mean(tf.tanh(read(gen(noise), words)), axis=1))
            real = verdict(tf.reduce_mean(tf.tanh(words(REAL)), axis=1))
            gen_loss = BCE(tf.ones_like(fake), fake)
            critic_loss = BCE(tf.ones_like(real), real) + BCE(tf.zeros_like(fake), fake)
        g_gen = gen_tape.gradient(gen_loss, gen.trainable_variables)
        g_critic = critic_tape.gradient(critic_loss, critic_vars)
        opt_c.apply_gradients(zip(g_critic, critic_vars))
        if all(g is not None for g in g_gen):
            opt_g.apply_gradients(zip(g_gen, gen.trainable_variables))
    return [*g_gen, *[tf.convert_to_tensor(g) for g in g_critic]]


def run():
    return _round(hard)


def fixed():
    return _round(soft)

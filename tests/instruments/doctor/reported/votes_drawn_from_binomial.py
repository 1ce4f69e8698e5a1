"""The number of successes is drawn from a binomial law with a learned chance; drawing whole numbers has no derivative."""

SOURCE = "common mistake"
CAUSE = "sampling"
EXPECT = {
    "status": {"logit": "none", "price": "ok"},
    "op": "StatelessRandomBinomial",
    "line_contains": "tf.random.stateless_binomial([16], [3, 5], counts=20.0, probs=chance)",
}
import tensorflow as tf


def _go(draw):
    logit, price = tf.Variable(0.3, name="logit"), tf.Variable(1.2, name="price")

    def fn():
        chance = tf.sigmoid(logit)
        sold = draw(chance)
        return tf.square(price * tf.reduce_mean(sold) - 9.0)

    return fn, [logit, price]


def build():
    return _go(
        lambda chance: tf.cast(tf.random.stateless_binomial([16], [3, 5], counts=20.0, probs=chance), tf.float32)
    )


def fixed():
    return _go(lambda chance: tf.fill([16], 20.0 * chance))

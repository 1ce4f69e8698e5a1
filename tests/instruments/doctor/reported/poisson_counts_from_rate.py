"""Event counts are drawn with a learned rate and compared with data; a Poisson draw carries no derivative to its rate."""

SOURCE = "tensorflow/tensorflow#6798"
CAUSE = "sampling"
EXPECT = {
    "status": {"log_rate": "none", "background": "ok"},
    "op": "StatelessRandomPoisson",
    "line_contains": "tf.random.stateless_poisson(",
}
import tensorflow as tf

SEEN = tf.constant([3.0, 5.0, 2.0, 6.0])


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.log_rate = tf.Variable([0.9, 1.2, 0.7, 1.4], name="log_rate")
        self.background = tf.Variable(0.3, name="background")

    @tf.function
    def drawn(self):
        counts = tf.random.stateless_poisson([4], seed=[1, 4], lam=tf.exp(self.log_rate), dtype=tf.float32)
        return tf.reduce_mean(tf.square(counts + self.background - SEEN))

    @tf.function
    def likelihood(self):
        rate = tf.exp(self.log_rate) + tf.nn.softplus(self.background)
        return tf.reduce_mean(rate - SEEN * tf.math.log(rate))


def build():
    m = Counter()
    return (lambda: m.drawn()), [m.log_rate, m.background]


def fixed():
    m = Counter()
    return (lambda: m.likelihood()), [m.log_rate, m.background]

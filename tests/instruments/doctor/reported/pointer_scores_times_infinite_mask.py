"""A scheduler multiplies its node scores by a mask holding minus infinity before the softmax; 0 * inf poisons it."""

SOURCE = "tensorflow/tensorflow#11756"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"embed/kernel": "nonfinite", "embed/bias": "nonfinite", "score": "nonfinite", "baseline": "ok"},
    "op": "Mul",
    "op_any": ["Softmax"],
    "line_contains": "masked = scores * mask",
    "line_any": ["probs = tf.nn.softmax(masked)"],
}
import numpy as np
import tensorflow as tf

NODES = tf.random.stateless_uniform([2, 5, 3], seed=[60, 3], minval=0.2)
FREE = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]], bool)
CHOSEN = tf.constant([0, 2])
RETURNS = tf.constant([1.4, 0.3])


class Scheduler(tf.Module):
    def __init__(self):
        super().__init__()
        tf.keras.utils.set_random_seed(603)
        self.embed = tf.keras.layers.Dense(4, activation="sigmoid", name="embed")
        self.embed(NODES)
        self.score = tf.Variable([0.5, 0.9, 0.4, 0.7], name="score")
        self.baseline = tf.Variable(0.2, name="baseline")

    def scores(self, nodes):
        return tf.einsum("bnd,d->bn", self.embed(nodes), self.score)

    def variables_in_order(self):
        return self.embed.trainable_variables + [self.score, self.baseline]


def objective(probs, baseline):
    picked = tf.gather(probs, CHOSEN, batch_dims=1)
    advantage = RETURNS - tf.stop_gradient(baseline)
    critic = tf.reduce_mean(tf.square(RETURNS - baseline))
    return -tf.reduce_mean(advantage * tf.math.log(picked)) + 0.5 * critic


def build():
    agent = Scheduler()
    mask = tf.constant(np.where(FREE, 1.0, -np.inf), tf.float32)

    def fn():
        scores = agent.scores(NODES)
        masked = scores * mask
        probs = tf.nn.softmax(masked)
        return objective(probs, agent.baseline)

    return fn, agent.variables_in_order()


def fixed():
    agent = Scheduler()

    def fn():
        scores = agent.scores(NODES)
        masked = tf.where(FREE, scores, -1e9)
        return objective(tf.nn.softmax(masked), agent.baseline)

    return fn, agent.variables_in_order()

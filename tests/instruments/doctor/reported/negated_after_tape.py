"""A score is to be maximised, and the minus sign is put in front of it only after the recording block."""

SOURCE = "tensorflow/tensorflow#45604"
CAUSE = "outside-tape"
EXPECT = {"status": {"critic/kernel": "none"}, "op": "Neg", "line_contains": "loss = -score"}
import tensorflow as tf

X = tf.random.stateless_normal([5, 3], seed=[9, 1])


def _critic():
    tf.keras.utils.set_random_seed(32)
    critic = tf.keras.layers.Dense(1, use_bias=False, activation="tanh", name="critic")
    critic.build((None, 3))
    return critic


def run():
    critic = _critic()
    with tf.GradientTape() as tape:
        score = tf.reduce_mean(critic(X))
    loss = -score
    return tape.gradient(loss, critic.trainable_variables)


def fixed():
    critic = _critic()
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(X))
    return tape.gradient(loss, critic.trainable_variables)

"""An actor-critic agent collects log-probabilities while playing and opens the tape only to add them up."""

SOURCE = "keras-team/keras-io#406"
CAUSE = "outside-tape"
EXPECT = {
    "status": {
        "policy_h/kernel": "none",
        "policy_h/bias": "none",
        "policy_out/kernel": "none",
        "policy_out/bias": "none",
    },
    "op": "call outside tape",
    "line_contains": "log_probs = tf.nn.log_softmax(policy(state))",
    "line_any": [
        "history.append(log_probs[0, action])",
        "with tf.GradientTape() as tape:",
        "loss = -tf.reduce_sum(",
        "grads = tape.gradient(loss, policy.trainable_variables)",
    ],
}
import numpy as np
import tensorflow as tf


class Corridor:
    """Walk right to reach cell five; each step costs a little."""

    def reset(self):
        self.cell = 1
        return self._see()

    def _see(self):
        return tf.constant([[self.cell / 5.0, 1.0]], tf.float32)

    def step(self, action):
        self.cell = max(0, self.cell + (1 if action == 1 else -1))
        return self._see(), (1.0 if self.cell == 5 else -0.05), self.cell == 5


def _policy():
    tf.keras.utils.set_random_seed(605)
    return tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(6, activation="tanh", name="policy_h"),
            tf.keras.layers.Dense(2, name="policy_out"),
        ]
    )


def play(policy, rng, steps=6):
    world, history, rewards = Corridor(), [], []
    state = world.reset()
    for _ in range(steps):
        log_probs = tf.nn.log_softmax(policy(state))
        action = int(rng.random() < float(tf.exp(log_probs[0, 1])))
        history.append(log_probs[0, action])
        state, reward, done = world.step(action)
        rewards.append(reward)
        if done:
            break
    returns = np.cumsum(rewards[::-1])[::-1].astype("float32")
    return history, returns - 0.3


def run():
    policy, rng = _policy(), np.random.default_rng(5)
    history, advantages = play(policy, rng)
    with tf.GradientTape() as tape:
        loss = -tf.reduce_sum(tf.stack(history) * advantages)
    grads = tape.gradient(loss, policy.trainable_variables)
    return grads


def fixed():
    policy, rng = _policy(), np.random.default_rng(5)
    with tf.GradientTape() as tape:
        history, advantages = play(policy, rng)
        loss = -tf.reduce_sum(tf.stack(history) * advantages)
    return tape.gradient(loss, policy.trainable_variables)

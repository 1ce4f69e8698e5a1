"""The value loss of an actor-critic reuses the advantage that was detached for the policy, so the critic never moves."""

SOURCE = "tensorpack/tensorpack#358"
CAUSE = "stop-gradient"
EXPECT = {
    "status": {"actor/kernel": "ok", "critic/kernel": "none"},
    "op": "StopGradient",
    "line_contains": "advantage = tf.stop_gradient(",
}
import tensorflow as tf

OBS = tf.random.stateless_normal([6, 3], seed=[14, 1])
ACT = tf.constant([0, 1, 1, 0, 1, 0])
RET = tf.linspace(-1.0, 1.5, 6)


def _nets():
    tf.keras.utils.set_random_seed(36)
    actor = tf.keras.layers.Dense(2, use_bias=False, name="actor")
    critic = tf.keras.layers.Dense(1, use_bias=False, name="critic")
    actor.build((None, 3))
    critic.build((None, 3))
    return actor, critic


def build():
    actor, critic = _nets()

    def fn():
        value = critic(OBS)[:, 0]
        advantage = tf.stop_gradient(RET - value)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(ACT, actor(OBS))
        return tf.reduce_mean(nll * advantage) + 0.5 * tf.reduce_mean(advantage * advantage)

    return fn, [actor.kernel, critic.kernel]


def fixed():
    actor, critic = _nets()

    def fn():
        value = critic(OBS)[:, 0]
        error = RET - value
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(ACT, actor(OBS))
        return tf.reduce_mean(nll * tf.stop_gradient(error)) + 0.5 * tf.reduce_mean(error * error)

    return fn, [actor.kernel, critic.kernel]

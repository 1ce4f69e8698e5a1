"""Five residual blocks run in a loop; only the third was left switched to a detached state by its configuration."""

SOURCE = "common mistake"
CAUSE = "stop-gradient"
EXPECT = {
    "status": {"w0": "none", "w1": "none", "w2": "none", "w3": "ok", "w4": "ok"},
    "op": "StopGradient",
    "line_contains": "return tf.stop_gradient(out)",
}
import tensorflow as tf

X = tf.constant([[0.4, -0.8], [1.0, 0.3]])


class Block(tf.Module):
    def __init__(self, index, detach):
        super().__init__()
        self.detach = detach
        self.w = tf.Variable([[0.3, -0.2 * index], [0.1, 0.4]], name=f"w{index}")

    def __call__(self, h):
        out = h + tf.tanh(h @ self.w)
        if self.detach:
            return tf.stop_gradient(out)
        return out


class Tower(tf.Module):
    def __init__(self, config):
        super().__init__()
        self.blocks = [Block(i, detach) for i, detach in enumerate(config)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def _go(config):
    tower = Tower(config)
    return (lambda: tf.reduce_mean(tf.square(tower(X) - 1.0))), list(tower.trainable_variables)


def build():
    return _go([False, False, True, False, False])


def fixed():
    return _go([False] * 5)

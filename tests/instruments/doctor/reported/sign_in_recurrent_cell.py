"""A recurrent cell passes its state through the sign function, so every weight before it has a derivative of exactly zero."""

SOURCE = "tensorlayer/TensorLayer#837"
CAUSE = "zero-gradient-op"
EXPECT = {
    "status": {"w_in": "zero", "w_rec": "zero", "w_out": "ok"},
    "op": "Sign",
    "line_contains": "tf.sign(tf.matmul(x, self.w_in)",
}
import tensorflow as tf

X = tf.random.stateless_normal([3, 4, 2], seed=[20, 1])


class BinaryCell(tf.Module):
    def __init__(self, squash):
        super().__init__()
        self.squash = squash
        self.w_in = tf.Variable(tf.random.stateless_normal([2, 3], seed=[20, 2]), name="w_in")
        self.w_rec = tf.Variable(tf.random.stateless_normal([3, 3], seed=[20, 3]), name="w_rec")
        self.w_out = tf.Variable(tf.random.stateless_normal([3, 1], seed=[20, 4]), name="w_out")

    def step(self, x, h):
        return tf.sign(tf.matmul(x, self.w_in) + tf.matmul(h, self.w_rec))

    def smooth_step(self, x, h):
        return tf.tanh(tf.matmul(x, self.w_in) + tf.matmul(h, self.w_rec))

    def __call__(self):
        h = tf.zeros([3, 3])
        for t in range(4):
            h = self.smooth_step(X[:, t], h) if self.squash else self.step(X[:, t], h)
        return tf.reduce_mean(tf.square(h @ self.w_out - 0.7))


def _go(squash):
    cell = BinaryCell(squash)
    return cell, [cell.w_in, cell.w_rec, cell.w_out]


def build():
    return _go(False)


def fixed():
    return _go(True)

"""A hypergraph block makes its projection layers inside call(), so each pass uses fresh weights that no one trains."""

SOURCE = "GouravWadhwa/Hypergraphs-Image-Inpainting#3"
CAUSE = "untracked-variable"
EXPECT = {
    "status": {
        "painter/stem/kernel": "ok",
        "painter/stem/bias": "ok",
        "painter/block/theta": "ok",
        "painter/out/kernel": "ok",
        "painter/out/bias": "ok",
    },
    "missing": ["phi", "psi"],
    "op": "untracked tf.Variable",
    "line_contains": 'phi = tf.keras.layers.Conv2D(3, 1, name="phi")(maps)',
    "line_any": ['psi = tf.keras.layers.Conv2D(3, 1, use_bias=False, name="psi")(maps)'],
}
import tensorflow as tf

PICTURES = tf.random.stateless_uniform([2, 5, 5, 1], seed=[61, 4])
CLEAN = tf.random.stateless_uniform([2, 5, 5, 1], seed=[61, 5])


class Block(tf.keras.layers.Layer):
    def build(self, shape):
        self.theta = self.add_weight(shape=(3,), initializer="ones", name="theta")

    def combine(self, phi, psi):
        flat_a = tf.reshape(phi, [tf.shape(phi)[0], -1, 3])
        flat_b = tf.reshape(psi, [tf.shape(psi)[0], -1, 3])
        incidence = tf.nn.softmax(tf.einsum("bnc,c,bmc->bnm", flat_a, self.theta, flat_b))
        return tf.reshape(tf.matmul(incidence, flat_b), tf.shape(psi))

    def call(self, maps):
        phi = tf.keras.layers.Conv2D(3, 1, name="phi")(maps)
        psi = tf.keras.layers.Conv2D(3, 1, use_bias=False, name="psi")(maps)
        return self.combine(phi, psi)


class OwnedBlock(Block):
    def build(self, shape):
        super().build(shape)
        self.make_phi = tf.keras.layers.Conv2D(3, 1, name="phi")
        self.make_psi = tf.keras.layers.Conv2D(3, 1, use_bias=False, name="psi")
        self.make_phi.build(shape)
        self.make_psi.build(shape)

    def call(self, maps):
        return self.combine(self.make_phi(maps), self.make_psi(maps))


class Painter(tf.keras.Model):
    def __init__(self, block):
        super().__init__(name="painter")
        self.stem = tf.keras.layers.Conv2D(4, 3, padding="same", activation="tanh", name="stem")
        self.block = block
        self.out = tf.keras.layers.Conv2D(1, 1, name="out")

    def call(self, x):
        return self.out(self.block(self.stem(x)))


def _go(block):
    tf.keras.utils.set_random_seed(613)
    net = Painter(block)
    net(PICTURES)
    return (lambda: tf.reduce_mean(tf.abs(net(PICTURES) - CLEAN))), net.trainable_variables


def build():
    return _go(Block(name="block"))


def fixed():
    return _go(OwnedBlock(name="block"))

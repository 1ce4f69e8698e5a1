"""A model is saved after its weights were folded into constants; the reloaded object still lists the weights, but does not read them."""

SOURCE = "google-ai-edge/mediapipe#3598"
CAUSE = "saved-model"
EXPECT = {
    "status": {"w": "none"},
    "op": "frozen constants",
    "op_any": [
        "frozen constants",
        "tf.saved_model.load",
        "StatefulPartitionedCall",
        "PartitionedCall",
        "Const",
        "saved model",
    ],
    "line_contains": "net = tf.saved_model.load(folder)",
    "line_any": ["net.forward(X)", "convert_variables_to_constants_v2(plain)"],
}
import tempfile

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

X = tf.random.stateless_normal([4, 3], seed=[25, 1])


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal([3, 1], seed=[25, 2]), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def forward(self, x):
        return tf.tanh(x @ self.w)


def _reload(freeze):
    net = Net()
    if freeze:
        plain = net.forward.get_concrete_function()
        folded = convert_variables_to_constants_v2(plain)
        net.forward = tf.function(lambda x: folded(x)[0], input_signature=[tf.TensorSpec([None, 3])])
    folder = tempfile.mkdtemp()
    tf.saved_model.save(net, folder)
    net = tf.saved_model.load(folder)

    def fn():
        return tf.reduce_mean(tf.square(net.forward(X) - 0.6))

    return fn, [net.w]


def build():
    return _reload(True)


def fixed():
    return _reload(False)

"""Two faults at once: a temperature is turned into a Python number, and a gate starts so far out that its sigmoid is flat."""

SOURCE = "tensorflow/tensorflow#41528 (plain number), keras-team/keras#5881 (flat output)"
CAUSE = "left-tensorflow"
EXPECT = {
    "status": {"temperature": "none", "gate": "zero", "w": "ok"},
    "op": "item()",
    "op_any": ["item()", "numpy()", "Sigmoid", "float()", "tolist()"],
    "line_contains": "heat = temperature.numpy().item()",
    "line_any": ["opened = tf.sigmoid(gate)"],
    "causes": {"temperature": "left-tensorflow", "gate": "zero-saturation"},
}
import tensorflow as tf

X = tf.random.stateless_normal([6, 3], seed=[26, 1])
Y = tf.constant([0, 1, 1, 0, 1, 0])


def _vars(gate):
    return (
        tf.Variable(1.3, name="temperature"),
        tf.Variable(gate, name="gate"),
        tf.Variable(tf.random.stateless_normal([3, 2], seed=[26, 2]), name="w"),
    )


def build():
    temperature, gate, w = _vars(120.0)

    def fn():
        heat = temperature.numpy().item()
        opened = tf.sigmoid(gate)
        logits = opened * (X @ w) / heat
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(Y, logits))

    return fn, [temperature, gate, w]


def fixed():
    temperature, gate, w = _vars(1.2)

    def fn():
        logits = tf.sigmoid(gate) * (X @ w) / temperature
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(Y, logits))

    return fn, [temperature, gate, w]

"""A pretrained table is created as not trainable, and fine-tuning later asks for the gradients of all module variables."""

SOURCE = "tensorflow/tensorflow#29329"
CAUSE = "non-trainable"
EXPECT = {
    "status": {"table": "none", "head": "ok"},
    "op": "trainable=False",
    "op_any": ["trainable=False", "non-trainable variable", "trainable"],
    "line_contains": 'trainable=False, name="table"',
}
import tensorflow as tf

WORDS = tf.constant([0, 2, 3, 1])
AIM = tf.constant([[1.0], [0.0], [1.0], [0.0]])


class Tagger(tf.Module):
    def __init__(self, fine_tune):
        super().__init__()
        start = tf.random.stateless_normal([5, 3], seed=[12, 1])
        if fine_tune:
            self.table = tf.Variable(start, name="table")
        else:
            self.table = tf.Variable(start, trainable=False, name="table")
        self.head = tf.Variable(tf.random.stateless_normal([3, 1], seed=[12, 2]), name="head")

    @tf.function
    def loss(self):
        logits = tf.nn.embedding_lookup(self.table, WORDS) @ self.head
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(AIM, logits))


def build():
    m = Tagger(False)
    return (lambda: m.loss()), [m.table, m.head]


def fixed():
    m = Tagger(True)
    return (lambda: m.loss()), [m.table, m.head]

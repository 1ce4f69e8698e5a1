"""The encoder is applied inside a data pipeline's map; only the head runs where the tape can see it."""

SOURCE = "common mistake"
CAUSE = "outside-tape"
EXPECT = {
    "status": {"enc_w": "none", "head_w": "ok"},
    "op": "Dataset.map",
    "line_contains": "batches = batches.map(lambda x, y: (tf.tanh(x @ enc_w), y))",
    "line_any": ["for h, y in batches:"],
}
import tensorflow as tf

X = tf.random.stateless_normal([6, 3], seed=[1, 8])
Y = tf.reduce_sum(X, axis=1, keepdims=True)


def _vars():
    return (
        tf.Variable([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.6]], name="enc_w"),
        tf.Variable([[0.7], [-0.5]], name="head_w"),
    )


def run():
    enc_w, head_w = _vars()
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(3)
    batches = batches.map(lambda x, y: (tf.tanh(x @ enc_w), y))
    answers = []
    for h, y in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(h @ head_w - y))
        answers.append(tape.gradient(loss, [enc_w, head_w]))
    return answers


def fixed():
    enc_w, head_w = _vars()
    answers = []
    for x, y in tf.data.Dataset.from_tensor_slices((X, Y)).batch(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ enc_w) @ head_w - y))
        answers.append(tape.gradient(loss, [enc_w, head_w]))
    return answers

"""A hand-written descent step rebinds the name: after the first update the parameter is a plain tensor, not a variable."""

SOURCE = "common mistake"
CAUSE = "not-watched"
EXPECT = {"status": {"tensor": "none"}, "op": "plain tensor", "line_contains": "w = w - 0.1 * g"}
import tensorflow as tf

X = tf.constant([[1.0, 0.4], [-0.3, 0.9], [0.5, -1.1]])
Y = tf.constant([0.2, 1.0, -0.4])


def loss_of(w, b):
    return tf.reduce_mean(tf.square(tf.linalg.matvec(X, w) + b - Y))


def run():
    w, b = tf.Variable([0.1, -0.2], name="w"), tf.Variable(0.0, name="b")
    answers = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = loss_of(w, b)
        g, gb = tape.gradient(loss, [w, b])
        answers.append(g)
        if g is not None:
            w = w - 0.1 * g
        b.assign_sub(0.1 * gb)
    return answers


def fixed():
    w, b = tf.Variable([0.1, -0.2], name="w"), tf.Variable(0.0, name="b")
    answers = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = loss_of(w, b)
        g, gb = tape.gradient(loss, [w, b])
        answers.append(g)
        w.assign_sub(0.1 * g)
        b.assign_sub(0.1 * gb)
    return answers

"""A hypernetwork predicts the kernel of a small main network and writes it there with assign, so it never learns."""

SOURCE = "google/qhbm-library#93"
CAUSE = "assign-state"
EXPECT = {
    "status": {
        "hyper_in/kernel": "none",
        "hyper_in/bias": "none",
        "hyper_out/kernel": "none",
        "hyper_out/bias": "none",
    },
    "op": "AssignVariableOp",
    "line_contains": "main.kernel.assign(tf.reshape(flat[:12]",
    "line_any": ["main.bias.assign(flat[12:])"],
}
import tensorflow as tf

TASKS = tf.constant([[1.0, 0.0], [0.0, 1.0]])
INPUTS = tf.random.stateless_normal([2, 6, 4], seed=[6, 1])
TARGETS = tf.stack(
    [
        tf.reduce_sum(INPUTS[0], -1, keepdims=True) * tf.ones([1, 3]),
        tf.reduce_mean(INPUTS[1], -1, keepdims=True) * tf.ones([1, 3]),
    ]
)


def _nets():
    tf.keras.utils.set_random_seed(11)
    hyper = tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(8, activation="tanh", name="hyper_in"),
            tf.keras.layers.Dense(4 * 3 + 3, name="hyper_out"),
        ]
    )
    main = tf.keras.layers.Dense(3, name="main")
    main.build((None, 4))
    return hyper, main


def run():
    hyper, main = _nets()
    optimizer = tf.keras.optimizers.SGD(0.05)
    grads = None
    for task, x, y in zip(TASKS, INPUTS, TARGETS):
        with tf.GradientTape() as tape:
            flat = hyper(task[None])[0]
            main.kernel.assign(tf.reshape(flat[:12], [4, 3]))
            main.bias.assign(flat[12:])
            y_hat = main(x)
            loss = tf.reduce_mean(tf.square(y_hat - y))
        grads = tape.gradient(loss, hyper.trainable_variables)
        pairs = [(g, v) for g, v in zip(grads, hyper.trainable_variables) if g is not None]
        if pairs:
            optimizer.apply_gradients(pairs)
    return grads


def fixed():
    hyper, _ = _nets()
    optimizer = tf.keras.optimizers.SGD(0.05)
    grads = None
    for task, x, y in zip(TASKS, INPUTS, TARGETS):
        with tf.GradientTape() as tape:
            flat = hyper(task[None])[0]
            kernel = tf.reshape(flat[:12], [4, 3])
            y_hat = tf.matmul(x, kernel) + flat[12:]
            loss = tf.reduce_mean(tf.square(y_hat - y))
        grads = tape.gradient(loss, hyper.trainable_variables)
        optimizer.apply_gradients(zip(grads, hyper.trainable_variables))
    return grads

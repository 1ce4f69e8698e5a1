"""A server learns how much to trust each client, but loads the mixed weights with set_weights before evaluating."""

SOURCE = "tensorflow/tensorflow#53541"
CAUSE = "assign-state"
EXPECT = {
    "status": {"trust": "none", "temperature": "none", "server_h/kernel": "ok", "server_out/kernel": "ok"},
    "op": "AssignVariableOp",
    "op_any": ["numpy()"],
    "line_contains": "server.set_weights(mixed)",
}
import tensorflow as tf

X = tf.random.stateless_normal([10, 3], seed=[61, 8])
Y = tf.reduce_sum(X, axis=1, keepdims=True) * 0.5


def _make(prefix, seed):
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.Sequential(
        [
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(5, activation="tanh", use_bias=False, name=f"{prefix}_h"),
            tf.keras.layers.Dense(1, use_bias=False, name=f"{prefix}_out"),
        ]
    )


def _local_training(client, shard):
    optimizer = tf.keras.optimizers.SGD(0.1)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(client(X[shard::3]) - Y[shard::3]))
        grads = tape.gradient(loss, client.trainable_variables)
        optimizer.apply_gradients(zip(grads, client.trainable_variables))
    return client.get_weights()


def _setup():
    reports = [_local_training(_make(f"client{k}", 616 + k), k) for k in range(3)]
    trust = tf.Variable([0.2, 0.0, -0.3], name="trust")
    temperature = tf.Variable(0.8, name="temperature")
    return reports, trust, temperature


def mix(reports, trust, temperature):
    share = tf.nn.softmax(trust / temperature)
    return [tf.add_n([share[k] * reports[k][n] for k in range(3)]) for n in range(len(reports[0]))]


def run():
    reports, trust, temperature = _setup()
    server = _make("server", 619)
    with tf.GradientTape() as tape:
        mixed = mix(reports, trust, temperature)
        server.set_weights(mixed)
        loss = tf.reduce_mean(tf.square(server(X) - Y))
    return tape.gradient(loss, [trust, temperature, *server.trainable_variables])


def fixed():
    reports, trust, temperature = _setup()
    with tf.GradientTape() as tape:
        kernel_h, kernel_out = mix(reports, trust, temperature)
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(X, kernel_h)), kernel_out) - Y))
    return tape.gradient(loss, [trust, temperature])

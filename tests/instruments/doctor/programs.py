"""Usual training programs in which nothing is wrong; each returns what it computed: losses, gradients, weights.

Names of losses and gradients don't matter: `trace` puts them one after the other, to be compared bit by bit.
"""

import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

PROGRAMS = {}


def program(function):
    """Note a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def trace(function):
    """Run a program from a fixed seed; everything that it computed, and what would be drawn next, as plain arrays."""
    keras.utils.clear_session(free_memory=False)
    keras.utils.set_random_seed(11)
    found = tf.nest.flatten(function(), expand_composites=True)
    found += [tf.random.normal([2]), keras.random.normal([2]), np.random.rand(2), random.random()]  # noqa: NPY002
    return [(a.dtype.name, a.shape, a.tobytes()) for a in map(np.asarray, found)]


def data(*shape, classes=None):
    """Inputs and targets that depend on them."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=shape).astype("float32")
    if classes is None:
        return x, np.tanh(x.reshape(len(x), -1)[:, :1])
    return x, generator.integers(0, classes, len(x))


def train(model, x, y, loss, steps=2, optimizer=None):
    """A loop of one's own: the losses, the gradients and the weights of a few steps."""
    optimizer = optimizer or keras.optimizers.SGD(0.1)
    found = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        found += [value, *gradients]
    return found + model.get_weights()


def cross_entropy(y, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


def squared(y, prediction):
    return tf.reduce_mean(tf.square(y - prediction))


@program
def mlp_with_dropout():
    x, y = data(16, 6, classes=3)
    model = keras.Sequential([layers.Dense(8, "relu"), layers.Dropout(0.3), layers.Dense(8, "relu"), layers.Dense(3)])
    return train(model, x, y, cross_entropy, optimizer=keras.optimizers.Adam())


@program
def cnn_with_batch_norm():
    x, y = data(8, 10, 10, 2, classes=3)
    model = keras.Sequential(
        [
            layers.Conv2D(4, 3, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(6, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )
    return train(model, x, y, cross_entropy, optimizer=keras.optimizers.SGD(0.05, momentum=0.9))


@program
def lstm_and_gru():
    x, y = data(6, 5, 3)
    model = keras.Sequential([layers.LSTM(4, return_sequences=True), layers.GRU(4), layers.Dense(1)])
    return train(model, x, y, squared)


@program
def bidirectional_with_masking():
    words = np.array([[1, 2, 3, 0], [4, 5, 0, 0], [2, 2, 6, 1]])
    model = keras.Sequential(
        [layers.Embedding(8, 3, mask_zero=True), layers.Bidirectional(layers.LSTM(3)), layers.Dense(2)]
    )
    return train(model, words, np.array([0, 1, 1]), cross_entropy)


@program
def embedding_with_rows_that_are_not_used():
    words = np.array([[1, 2, 3], [3, 4, 1]])
    table, out = tf.Variable(data(10, 4)[0], name="table"), tf.Variable(data(4, 2)[0], name="out")
    with tf.GradientTape() as tape:
        value = cross_entropy(np.array([0, 1]), tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1) @ out)
    return [value, *tape.gradient(value, [table, out])]


@program
def transformer_block():
    x, y = data(4, 6, 8)
    inside = keras.Input([6, 8])
    attended = layers.MultiHeadAttention(2, 4)(inside, inside, use_causal_mask=True)
    normal = layers.LayerNormalization()(inside + attended)
    wide = layers.Dense(8)(layers.Dense(16, activation="gelu")(normal))
    out = layers.Dense(1)(layers.Flatten()(layers.LayerNormalization()(normal + wide)))
    return train(keras.Model(inside, out), x, y, squared, optimizer=keras.optimizers.AdamW())


@program
def variational_autoencoder():
    x, _ = data(8, 6)
    encoder, decoder = keras.Sequential([layers.Dense(8, "tanh"), layers.Dense(4)]), layers.Dense(6)
    encoder.build((None, 6))
    decoder.build((None, 2))
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer, found = keras.optimizers.Adam(), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(encoder(x), 2, axis=1)
            code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
            distance = -0.5 * tf.reduce_mean(1.0 + log_variance - mean**2 - tf.exp(log_variance))
            value = squared(x, decoder(code)) + distance
        gradients = tape.gradient(value, variables)
        optimizer.apply(gradients, variables)
        found += [value, *gradients]
    return found


@program
def gan_in_two_steps():
    x, _ = data(8, 3)
    maker = keras.Sequential([keras.Input([2]), layers.Dense(6, "tanh"), layers.Dense(3)])
    critic = keras.Sequential([keras.Input([3]), layers.Dense(6), layers.LeakyReLU(), layers.Dense(1)])
    of_maker, of_critic = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
    error = keras.losses.BinaryCrossentropy(from_logits=True)
    found = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            fake, real = critic(maker(tf.random.normal([8, 2]))), critic(x)
            value = error(tf.ones([8, 1]), real) + error(tf.zeros([8, 1]), fake)
        gradients = tape.gradient(value, critic.trainable_variables)
        of_critic.apply(gradients, critic.trainable_variables)
        with tf.GradientTape() as tape:
            value = error(tf.ones([8, 1]), critic(maker(tf.random.normal([8, 2]))))
        slopes = tape.gradient(value, maker.trainable_variables)
        of_maker.apply(slopes, maker.trainable_variables)
        found += [*gradients, *slopes]
    return found


@program
def gan_with_two_tapes_at_once():
    x, _ = data(8, 3)
    maker = keras.Sequential([keras.Input([2]), layers.Dense(3)])
    critic = keras.Sequential([keras.Input([3]), layers.Dense(4, "tanh"), layers.Dense(1)])
    with tf.GradientTape() as first, tf.GradientTape() as second:
        fake, real = critic(maker(tf.random.normal([8, 2]))), critic(x)
        of_maker = -tf.reduce_mean(fake)
        of_critic = tf.reduce_mean(tf.nn.softplus(fake)) + tf.reduce_mean(tf.nn.softplus(-real))
    return [
        *first.gradient(of_maker, maker.trainable_variables),
        *second.gradient(of_critic, critic.trainable_variables),
    ]


@program
def several_outputs_with_weights():
    x, y = data(8, 4)
    inside = keras.Input([4])
    shared = layers.Dense(6, "tanh")(inside)
    model = keras.Model(inside, {"a": layers.Dense(1, name="a")(shared), "b": layers.Dense(1, name="b")(shared)})
    model.compile("rmsprop", loss={"a": "mse", "b": "mae"}, loss_weights={"a": 1.0, "b": 0.2}, metrics={"a": ["mae"]})
    history = model.fit(x, {"a": y, "b": 2.0 * y}, epochs=2, batch_size=4, verbose=0)
    return list(history.history.values()) + model.get_weights()


@program
def frozen_backbone():
    x, y = data(8, 4, classes=2)
    backbone = keras.Sequential([keras.Input([4]), layers.Dense(5, "relu"), layers.BatchNormalization()])
    backbone.trainable = False
    model = keras.Sequential([backbone, layers.Dense(2)])
    return train(model, x, y, cross_entropy)


@program
def only_the_head_is_listed():
    x, y = data(8, 4, classes=2)
    backbone, head = keras.Sequential([keras.Input([4]), layers.Dense(5, "tanh")]), layers.Dense(2)
    head.build((None, 5))
    with tf.GradientTape() as tape:
        value = cross_entropy(y, head(tf.stop_gradient(backbone(x))))
    return tape.gradient(value, head.trainable_variables)


@program
def shared_weights():
    x, _ = data(6, 4)
    twin = keras.Sequential([keras.Input([4]), layers.Dense(5, "tanh"), layers.Dense(3)])
    table = tf.Variable(data(3, 4)[0], name="table")
    with tf.GradientTape() as tape:
        distance = tf.reduce_sum((twin(x) - twin(x[::-1])) ** 2, 1)
        tied = tf.reduce_mean((twin(x) @ table - x) ** 2) + tf.reduce_mean((x @ tf.transpose(table)) ** 2)
        value = tf.reduce_mean(distance) + tied
    return [value, *tape.gradient(value, [*twin.trainable_variables, table])]


@program
def compiled_step():
    x, y = data(8, 4)
    model = keras.Sequential([keras.Input([4]), layers.Dense(5, "swish"), layers.Dense(1)])
    optimizer = keras.optimizers.Adam()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = squared(y, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return value, gradients

    return [step(x, y) for _ in range(3)] + model.get_weights()


@program
def loop_in_a_compiled_function():
    w = tf.Variable([[0.5, -0.2], [0.1, 0.7]], name="w")
    start = tf.Variable([[1.0, 2.0]], name="start")

    @tf.function
    def run(steps):
        state = tf.identity(start)
        for step in tf.range(steps):
            state = tf.tanh(state @ w) if step % 2 == 0 else tf.sin(state @ w)
        return tf.reduce_sum(state)

    with tf.GradientTape() as tape:
        value = run(tf.constant(5))
    with tf.GradientTape() as other:
        rows = tf.map_fn(lambda row: tf.reduce_sum(row * row), w)
        scanned = tf.scan(lambda a, b: a * 0.5 + b, rows)
        again = tf.reduce_sum(scanned)
    return [value, *tape.gradient(value, [w, start]), other.gradient(again, w)]


@program
def fit_with_a_custom_loss():
    x, y = data(12, 4)

    def smooth(y, prediction):
        error = y - prediction
        return tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * error**2, tf.abs(error) - 0.5))

    model = keras.Sequential([layers.Dense(5, "elu", kernel_regularizer="l2"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(clipnorm=1.0), loss=smooth, metrics=["mae"])
    history = model.fit(x, y, epochs=2, batch_size=4, verbose=0, validation_data=(x, y))
    return list(history.history.values()) + model.get_weights()


@program
def fit_on_a_dataset():
    x, y = data(12, 4)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2.0, b)).shuffle(12, seed=1).batch(4)
    model = keras.Sequential([layers.GaussianNoise(0.1), layers.Dense(5, "tanh"), layers.Dense(1)])
    model.compile("adam", loss="mse")
    return list(model.fit(dataset, epochs=2, verbose=0).history.values()) + model.get_weights()


class Stepping(keras.Model):
    """Overrides `train_step`."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = layers.Dense(4, "tanh"), layers.Dense(1)
        self.mean = keras.metrics.Mean("loss")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, batch):
        x, y = batch
        with tf.GradientTape() as tape:
            value = squared(y, self(x, training=True))
        gradients = tape.gradient(value, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.mean.update_state(value)
        return {"loss": self.mean.result()}


@program
def train_step_of_ones_own():
    x, y = data(12, 4)
    model = Stepping()
    model.compile("adam")
    return list(model.fit(x, y, epochs=2, batch_size=4, verbose=0).history.values()) + model.get_weights()


@program
def mixed_precision_with_loss_scaling():
    x, y = data(12, 4)
    model = keras.Sequential(
        [
            layers.Dense(5, "tanh", dtype="mixed_float16"),
            layers.Dense(1, dtype="mixed_float16"),
            layers.Activation("linear", dtype="float32"),
        ]
    )
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(), initial_scale=2.0**17)
    model.compile(optimizer, loss="mse")
    history = model.fit(x, y, epochs=4, batch_size=4, verbose=0)
    return list(history.history.values()) + model.get_weights() + [optimizer.dynamic_scale]


@program
def accumulated_gradients():
    x, y = data(12, 4)
    model = keras.Sequential([keras.Input([4]), layers.Dense(5, "tanh"), layers.Dense(1)])
    sums = [tf.Variable(tf.zeros_like(v.value), trainable=False) for v in model.trainable_variables]
    for start in (0, 4, 8):
        with tf.GradientTape() as tape:
            value = squared(y[start : start + 4], model(x[start : start + 4])) / 3.0
        for total, gradient in zip(sums, tape.gradient(value, model.trainable_variables), strict=True):
            total.assign_add(gradient)
    model.compile(keras.optimizers.SGD(0.1, gradient_accumulation_steps=2), loss="mse")
    model.optimizer.apply([tf.identity(total) for total in sums], model.trainable_variables)
    model.fit(x, y, batch_size=4, verbose=0)
    return [total.numpy() for total in sums] + model.get_weights()


@program
def gradient_penalty():
    x, _ = data(6, 3)
    critic = keras.Sequential([keras.Input([3]), layers.Dense(5, "tanh"), layers.Dense(1)])
    mixed = tf.convert_to_tensor(x)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            score = critic(mixed)
        slope = inner.gradient(score, mixed)
        penalty = tf.reduce_mean((tf.sqrt(tf.reduce_sum(slope**2, 1) + 1e-12) - 1.0) ** 2)
        value = tf.reduce_mean(score) + 10.0 * penalty
    return [slope, value, *outer.gradient(value, critic.trainable_variables)]


@program
def learning_to_learn():
    w = tf.Variable([0.5, -0.3], name="w")
    rate = tf.Variable(0.1, name="rate")
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            first = tf.reduce_mean(tf.tanh(tf.linalg.matvec(x, w)) ** 2)
        stepped = w - rate * inner.gradient(first, w)
        value = tf.reduce_mean((tf.linalg.matvec(x, stepped) - 1.0) ** 2)
    return [value, *outer.gradient(value, [w, rate])]


@program
def jacobians_of_a_persistent_tape():
    x = tf.constant([[0.3, 0.7], [1.0, -1.0]])
    w = tf.Variable([[1.0, 0.5], [0.2, -0.4]], name="w")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(x @ w)
        total = tf.reduce_sum(y)
    return [tape.batch_jacobian(y, x), tape.jacobian(y, w), tape.gradient(total, w), tape.gradient(y, {"x": x})]


@program
def policy_gradient():
    states, rewards = data(8, 3)[0], tf.constant([1.0, -1.0, 0.5, 2.0, 0.1, -0.3, 1.0, 0.7])
    policy = keras.Sequential([keras.Input([3]), layers.Dense(4, "tanh"), layers.Dense(2)])
    with tf.GradientTape() as tape:
        logits = policy(states)
        actions = tf.random.categorical(logits, 1)[:, 0]
        chosen = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
        value = -tf.reduce_mean(chosen * tf.stop_gradient(rewards - tf.reduce_mean(rewards)))
    return [actions, *tape.gradient(value, policy.trainable_variables)]


@program
def target_network():
    states, rewards = data(8, 3)
    values = keras.Sequential([keras.Input([3]), layers.Dense(4, "tanh"), layers.Dense(2)])
    slow = keras.models.clone_model(values)
    slow.set_weights(values.get_weights())
    optimizer, found = keras.optimizers.Adam(), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            best = tf.reduce_max(slow(states[::-1]), 1, keepdims=True)
            aim = tf.stop_gradient(rewards + 0.9 * best)
            value = squared(aim, tf.reduce_max(values(states), 1, keepdims=True))
        gradients = tape.gradient(value, values.trainable_variables)
        optimizer.apply(gradients, values.trainable_variables)
        for old, new in zip(slow.weights, values.weights, strict=True):
            old.assign(0.9 * old.value + 0.1 * new.value)
        found += [float(value), *gradients]
    return found + slow.get_weights()


@program
def straight_through_and_custom_gradients():
    w = tf.Variable([0.3, -0.8, 1.7], name="w")

    @tf.custom_gradient
    def rounded(x):
        return tf.round(x), lambda upstream: upstream

    with tf.GradientTape() as tape:
        hard = w + tf.stop_gradient(tf.sign(w) - w)
        clipped = tf.clip_by_value(w, -1.0, 1.0)
        value = tf.reduce_sum(hard * [1.0, 2.0, 3.0]) + tf.reduce_sum(rounded(w) ** 2) + tf.reduce_sum(clipped)
    gradients, norm = tf.clip_by_global_norm([tape.gradient(value, w)], 1.0)
    return [value, norm, *gradients]


@program
def graph_of_neighbours():
    nodes, senders, receivers = data(5, 3)[0], tf.constant([0, 1, 2, 3, 4]), tf.constant([1, 2, 0, 4, 4])
    w = tf.Variable(data(3, 3)[0], name="w")
    with tf.GradientTape() as tape:
        messages = tf.gather(nodes @ w, senders)
        gathered = tf.math.unsorted_segment_mean(messages, receivers, 5)
        spread = tf.tensor_scatter_nd_add(tf.zeros([5, 3]), receivers[:, None], messages)
        value = tf.reduce_mean(tf.nn.elu(gathered + spread) ** 2)
    return [value, tape.gradient(value, w)]


class Noisy(layers.Layer):
    """A layer with a weight of its own, a loss of its own and a state."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False, name="seen")

    def call(self, x):
        self.seen.assign_add(1.0)
        self.add_loss(0.01 * tf.reduce_sum(self.scale**2))
        return x * self.scale + 0.01 * keras.random.normal(tf.shape(x))


@program
def layer_with_a_loss_and_a_state():
    x, y = data(12, 4)
    model = keras.Sequential([layers.Dense(5, "tanh"), Noisy(), layers.Dense(1)])
    model.compile("adam", loss="mse")
    return list(model.fit(x, y, batch_size=4, verbose=0).history.values()) + model.get_weights()


@program
def watching_the_metrics():
    x, y = data(8, 4, classes=2)
    model = keras.Sequential([keras.Input([4]), layers.Dense(3, "tanh"), layers.Dense(2)])
    accuracy, found = keras.metrics.SparseCategoricalAccuracy(), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            logits = model(x)
            value = cross_entropy(y, logits)
            accuracy.update_state(y, logits)
            best = float(tf.reduce_max(tf.cast(tf.argmax(logits, 1) == y, tf.float32)))
        gradients = tape.gradient(value, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        found += [float(value), best, float(accuracy.result()), *[g.numpy().std() for g in gradients]]
    return found

"""Programs for X-rays; each comes with `by_hand`, which asks a tape for the value of each line, line by line.

`by_hand` gives, for a piece of a line's text, the tensors that the line computed and their gradients, in order.
"""

import keras
import numpy as np
import tensorflow as tf


def ask(target, values):
    """What the tape says: for each line, its tensors with their gradients."""
    tape, result = target
    flat = [tensor for tensors in values.values() for tensor in tensors]
    gradients = iter(tape.gradient(result, flat))
    return {code: [(tensor, next(gradients)) for tensor in tensors] for code, tensors in values.items()}


def noise(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape), tf.float32)


class Mlp:
    """Four lines, each with one value."""

    def __init__(self):
        self.x, self.y = noise(32, 8), noise(32, 1, seed=1)
        self.w1 = tf.Variable(noise(8, 16, seed=2), name="w1")
        self.w2 = tf.Variable(noise(16, 1, seed=3), name="w2")
        self.variables = [self.w1, self.w2]

    def loss(self):
        hidden = tf.nn.relu(self.x @ self.w1)
        out = hidden @ self.w2
        error = out - self.y
        return tf.reduce_mean(tf.square(error))

    def by_hand(self):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(self.x @ self.w1)
            out = hidden @ self.w2
            error = out - self.y
            loss = tf.reduce_mean(tf.square(error))
        lines = {"hidden =": [hidden], "out =": [out], "error =": [error], "return tf.reduce_mean": [loss]}
        return ask((tape, loss), lines)


class Deep:
    """Fifty layers of sigmoids, one line of a loop that calls a function of two lines."""

    def __init__(self):
        self.x = noise(16, 12)
        self.variables = [tf.Variable(noise(12, 12, seed=i), name=f"w{i}") for i in range(50)]

    def layer(self, h, w):
        z = h @ w
        return tf.nn.sigmoid(z)

    def loss(self):
        state = self.x
        for w in self.variables:
            state = self.layer(state, w)
        return tf.reduce_sum(state)

    def by_hand(self):
        zs, hs = [], []
        with tf.GradientTape() as tape:
            h = self.x
            for w in self.variables:
                zs.append(h @ w)
                hs.append(tf.nn.sigmoid(zs[-1]))
                h = hs[-1]
            loss = tf.reduce_sum(h)
        return ask((tape, loss), {"state = self.layer": hs, "z = h @ w": zs, "return tf.nn.sigmoid": hs})


class Scaled(keras.layers.Layer):
    """A dense layer with one factor for all units."""

    def __init__(self, units, **more):
        super().__init__(**more)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel", initializer="glorot_uniform")
        self.factor = self.add_weight(shape=(), name="factor", initializer="ones")

    def call(self, inputs):
        product = tf.matmul(inputs, self.kernel)
        bent = tf.nn.tanh(product)
        return bent * self.factor


class KerasModel:
    """A model of ready-made layers with one of one's own among them."""

    def __init__(self):
        keras.utils.set_random_seed(3)
        self.x, self.y = noise(32, 6), tf.constant(np.arange(32) % 3)
        self.model = keras.Sequential(
            [
                keras.Input((6,)),
                keras.layers.Dense(16, activation="relu", name="first"),
                Scaled(8, name="scaled"),
                keras.layers.LayerNormalization(name="norm"),
                keras.layers.Dense(3, name="last"),
            ]
        )
        self.measure = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.variables = self.model.trainable_variables

    def loss(self):
        logits = self.model(self.x, training=True)
        return self.measure(self.y, logits)

    def by_hand(self):
        first, scaled, norm, last = self.model.layers
        with tf.GradientTape() as tape:
            a = first(self.x)
            product = tf.matmul(a, scaled.kernel)
            bent = tf.nn.tanh(product)
            b = bent * scaled.factor
            c = norm(b)
            logits = last(c)
            loss = self.measure(self.y, logits)
        lines = {
            "logits = self.model": [logits],
            "first (Dense)": [a],
            "scaled (Scaled)": [b],
            "norm (LayerNormalization)": [c],
            "last (Dense)": [logits],
            "product = ": [product],
            "bent = ": [bent],
            "return bent * self.factor": [b],
            "return self.measure": [loss],
        }
        return ask((tape, loss), lines)


class Attention:
    """Several values on a line, a comprehension, a lambda, a statement of several lines."""

    def __init__(self):
        self.x = noise(4, 5, 8)
        self.variables = [tf.Variable(noise(8, 8, seed=i), name=n) for i, n in enumerate(("q", "k", "v"))]

    def loss(self):
        q, k, v = (self.x @ weight for weight in self.variables)
        scores = [tf.matmul(q[i], k[i], transpose_b=True) for i in range(4)]
        soften = lambda score: tf.nn.softmax(score / 8.0**0.5)  # noqa: E731
        mixed = tf.stack([soften(s) for s in scores]) @ v
        mixed += self.x
        return tf.reduce_mean(
            tf.square(mixed)
        )  # fmt: skip

    def by_hand(self):
        with tf.GradientTape() as tape:
            q, k, v = (self.x @ weight for weight in self.variables)
            scores = [tf.matmul(q[i], k[i], transpose_b=True) for i in range(4)]
            soft = [tf.nn.softmax(s / 8.0**0.5) for s in scores]
            mixed = tf.stack(soft) @ v
            added = mixed + self.x
            squares = tf.square(added)
            loss = tf.reduce_mean(squares)
        lines = {
            "q, k, v": [q, k, v],
            "scores =": scores,
            "soften =": soft,
            "mixed =": [mixed],
            "mixed +=": [added],
            "return tf.reduce_mean(": [loss],
            "tf.square(mixed)": [squares],
        }
        return ask((tape, loss), lines)


class Cut:
    """A position becomes an integer: no gradient above, a gradient below."""

    def __init__(self):
        self.image = noise(16, 16)
        self.position = tf.Variable([3.4, 5.2], name="position")
        self.variables = [self.position]

    def loss(self):
        moved = self.position * 2.0
        corner = tf.cast(moved, tf.int32)
        rows = tf.range(16) - corner[0]
        weights = tf.cast(rows, tf.float32)
        canvas = self.image * weights[:, None]
        return tf.reduce_mean(canvas**2)

    def by_hand(self):
        with tf.GradientTape() as tape:
            moved = self.position * 2.0
            corner = tf.cast(moved, tf.int32)
            weights = tf.cast(tf.range(16) - corner[0], tf.float32)
            tape.watch(weights)
            canvas = self.image * weights[:, None]
            loss = tf.reduce_mean(canvas**2)
        lines = {"moved =": [moved], "weights =": [weights], "canvas =": [canvas], "return tf.reduce_mean": [loss]}
        return ask((tape, loss), lines)


class Residual:
    """A compiled function, a loop with two lines, and a gradient penalty inside."""

    def __init__(self):
        self.x = noise(8, 6)
        self.variables = [tf.Variable(0.3 * noise(6, 6, seed=i), name=f"w{i}") for i in range(5)]

    @tf.function
    def loss(self):
        state = self.x
        for w in self.variables:
            branch = tf.nn.tanh(state @ w)
            state = state + branch
        with tf.GradientTape() as inner:
            inner.watch(state)
            energy = tf.reduce_sum(state**3)
        slope = inner.gradient(energy, state)
        return tf.reduce_mean(slope**2)

    def by_hand(self):
        branches, states = [], []
        with tf.GradientTape() as tape:
            state = self.x
            for w in self.variables:
                branches.append(tf.nn.tanh(state @ w))
                states.append(state + branches[-1])
                state = states[-1]
            with tf.GradientTape() as inner:
                inner.watch(state)
                energy = tf.reduce_sum(state**3)
            slope = inner.gradient(energy, state)
            loss = tf.reduce_mean(slope**2)
        return ask((tape, loss), {"branch =": branches, "state = state": states, "slope =": [slope]})


PROGRAMS = {"mlp": Mlp, "deep": Deep, "keras": KerasModel, "attention": Attention, "cut": Cut, "residual": Residual}

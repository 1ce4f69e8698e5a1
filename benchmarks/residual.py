"""The six nets of lesson 09 over several seeds: what they start with, and whether they learn the digits.

    python benchmarks/residual.py [--seeds 3]

Each has fifty Dense layers of width 64 and is trained by plain gradient descent, rate 0.01, batches of 32, six epochs.
"Agreement" is `gradient_agreement` of an untrained net's first logit over walks between digits; "alike" is the mean
cosine between the digits in the last hidden layer. The last column says whether a net does as expected: those that
train reach 0.85 on digits that they haven't seen, the others stay below 0.5.
"""

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from gradlab.exercises.lesson_09.gradient_agreement import gradient_agreement
from gradlab.exercises.lesson_09.identity_at_start import identity_at_start
from gradlab.exercises.lesson_09.ResidualBlock import ResidualBlock
from gradlab.materials.digits import load_digits

DIGITS = load_digits(scaled="standardised")
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
WIDTH, BLOCKS = 64, 24


def plain_net(activation: str, initializer: str) -> keras.Model:
    layers = [
        keras.layers.Dense(WIDTH, activation=activation, kernel_initializer=initializer) for _ in range(2 * BLOCKS + 1)
    ]
    return keras.Sequential([keras.Input((64,)), *layers, keras.layers.Dense(10)])


def residual_net(scale: float) -> keras.Model:
    first = keras.layers.Dense(WIDTH, activation="relu", kernel_initializer="he_normal")
    blocks = [ResidualBlock(WIDTH, scale) for _ in range(BLOCKS)]
    return keras.Sequential([keras.Input((64,)), first, *blocks, keras.layers.Dense(10)])


def zero_net() -> keras.Model:
    model = residual_net(1.0)
    for block in model.layers[1:-1]:
        identity_at_start(block)
    return model


NETS: dict[str, tuple[Callable[[], keras.Model], bool]] = {
    "plain sigmoid": (lambda: plain_net("sigmoid", "glorot_uniform"), False),
    "plain ReLU, Glorot": (lambda: plain_net("relu", "glorot_uniform"), False),
    "plain ReLU, He": (lambda: plain_net("relu", "he_normal"), False),
    "residual, scale 1": (lambda: residual_net(1.0), False),
    "residual, scale 1/root": (lambda: residual_net(BLOCKS**-0.5), True),
    "residual, last layer 0": (zero_net, True),
}


def at_start(model: keras.Model) -> tuple[float, float, float]:
    """Loss, and the gradient norms of the first and of the last kernel, over all training digits."""
    with tf.GradientTape() as tape:
        loss = LOSS(DIGITS.y_train, model(DIGITS.x_train))
    kernels = [variable for variable in model.trainable_variables if len(variable.shape) == 2]
    first, last = tape.gradient(loss, [kernels[0], kernels[-1]])
    # the squares of a vanishing gradient are no numbers of float32 any more
    return float(loss), float(np.linalg.norm(np.float64(first))), float(np.linalg.norm(np.float64(last)))


def agreement(model: keras.Model, walks: int = 6, steps: int = 50) -> float:
    """Mean agreement of neighbouring gradients on straight walks between two digits."""
    rng, found = np.random.default_rng(0), []
    for _ in range(walks):
        a, b = DIGITS.x_train[rng.integers(len(DIGITS.x_train), size=2)]
        walk = tf.constant(a + np.linspace(0, 1, steps, dtype=np.float32)[:, None] * (b - a))
        with tf.GradientTape() as tape:
            tape.watch(walk)
            logit = tf.reduce_sum(model(walk)[:, 0])
        found.append(gradient_agreement(tape.gradient(logit, walk)))
    return float(np.mean(found))


def alike(model: keras.Model, count: int = 200) -> float:
    """Mean cosine between digits in the last hidden layer."""
    hidden = DIGITS.x_train[:count]
    for layer in model.layers[:-1]:
        hidden = layer(hidden)
    unit = tf.math.l2_normalize(hidden, axis=1).numpy()
    return float((unit @ unit.T)[np.triu_indices(count, k=1)].mean())


def accuracy_after_training(
    model: keras.Model, seed: int, rate: float = 0.01, epochs: int = 6, size: int = 32
) -> float:
    """Train, and return the share of test digits named rightly."""
    variables = model.trainable_variables

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * gradient)

    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(DIGITS.x_train))
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            step(tf.constant(DIGITS.x_train[rows]), tf.constant(DIGITS.y_train[rows]))
    return float(np.mean(np.argmax(model(DIGITS.x_test), axis=1) == DIGITS.y_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    print(f"{'net':24}seed{'loss':>9}{'first':>9}{'last':>9}{'agree':>7}{'alike':>7}{'accuracy':>10}{'CPU s':>7}")
    for name, (make, trains) in NETS.items():
        for seed in range(seeds):
            begun = time.process_time()
            keras.utils.set_random_seed(seed)
            model = make()
            loss, first, last = at_start(model)
            near, same = agreement(model), alike(model)
            accuracy = accuracy_after_training(model, seed)
            verdict = "trains" if accuracy >= 0.85 else "doesn't train" if accuracy <= 0.5 else "in between"
            expected = "as expected" if verdict == ("trains" if trains else "doesn't train") else "NOT AS EXPECTED"
            spent = time.process_time() - begun
            numbers = f"{loss:9.2g}{first:9.1e}{last:9.1e}{near:7.2f}{same:7.2f}{accuracy:10.3f}{spent:7.1f}"
            print(f"{name:24}{seed:4}{numbers}  {verdict}, {expected}", flush=True)


if __name__ == "__main__":
    main()

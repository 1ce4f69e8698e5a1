"""`GradientMonitor` beside plain `fit`, and beside the usual callback that takes a second backward pass.

    python benchmarks/monitor.py [--pairs 9]

Six layers of 256, batches of 64. Each pair is three epochs without and three with; printed are the median ratios of CPU
seconds and of time on the wall, and whether the weights after the first run are bit-equal.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1]))

import keras
import numpy as np
import tensorflow as tf

from gradlab import GradientMonitor

BATCH, STEPS, WIDTH = 64, 100, 256
RNG = np.random.default_rng(0)
X = RNG.random((BATCH * STEPS, WIDTH), dtype="float32")
Y = RNG.integers(0, 10, BATCH * STEPS)


class SecondTape(keras.callbacks.Callback):
    """What people write: after each batch another forward and backward pass, for the norms alone."""

    def __init__(self):
        super().__init__()
        self.norms = []

    def on_train_begin(self, logs=None):
        """Compile the second pass."""
        model = self.model

        @tf.function
        def norms(x, y):
            with tf.GradientTape() as tape:
                loss = model.compute_loss(x=x, y=y, y_pred=model(x, training=True))
            return tf.stack([tf.norm(g) for g in tape.gradient(loss, model.trainable_variables)])

        self.pass_again = norms

    def on_train_batch_end(self, batch, logs=None):
        """Take the gradients of this batch a second time."""
        part = slice(batch * BATCH, (batch + 1) * BATCH)
        self.norms.append(self.pass_again(tf.constant(X[part]), tf.constant(Y[part])).numpy())


def model():
    """Six layers of 256 and ten classes, always from the same start."""
    keras.utils.set_random_seed(0)
    hidden = [keras.layers.Dense(WIDTH, "relu") for _ in range(6)]
    net = keras.Sequential([keras.Input((WIDTH,)), *hidden, keras.layers.Dense(10)])
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return net


def fit(net, callbacks=()):
    """Three epochs; CPU seconds and seconds on the wall."""
    cpu, wall = time.process_time(), time.perf_counter()
    net.fit(X, Y, batch_size=BATCH, epochs=3, shuffle=False, verbose=0, callbacks=list(callbacks))
    return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs without and with")
    pairs = parser.parse_args().pairs
    print(f"{'plain fit = 1':<18} {'CPU':>6} {'wall':>6}  weights")
    for name, callback in (("GradientMonitor", GradientMonitor()), ("second tape", SecondTape())):
        plain, watched = model(), model()
        fit(plain)
        fit(watched, [callback])
        weights = zip(plain.get_weights(), watched.get_weights(), strict=True)
        equal = all(np.array_equal(a, b) for a, b in weights)
        ratios = []
        for _ in range(pairs):
            before, after = fit(plain), fit(watched, [callback])
            ratios.append([b / a for a, b in zip(before, after, strict=True)])
        cpu, wall = (statistics.median(column) for column in zip(*ratios, strict=True))
        print(f"{name:<18} {cpu:>6.2f} {wall:>6.2f}  {'bit-equal' if equal else 'differ'}", flush=True)


if __name__ == "__main__":
    main()

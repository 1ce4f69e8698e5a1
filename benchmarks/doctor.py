"""The doctor beside one eager step of training: CPU seconds, peak memory, and how both grow with the weights.

    python benchmarks/doctor.py [--pairs 9] [--only time|memory|weights]

A step is the forward pass, the backward pass and the optimizer's update, with compiled functions run operation by
operation (`tf.config.run_functions_eagerly(True)`), which is how the doctor runs them. Beside it stands the same step
inside `with doctor()`, report included. "cut" is the same model with its gradient stopped in the middle, "zero" with
a factor of 0 there, "nan" with the square root of a zero on the way. Times are medians over alternating pairs. Memory
(on Linux) is the peak of a fresh process that does only this, and in brackets the same less what it held before.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1]))

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from gradlab import doctor

FAULTS: dict[str, Callable] = {
    "healthy": lambda x: x,
    "cut": tf.stop_gradient,
    "zero": lambda x: x * 0.0,
    "nan": lambda x: x + tf.sqrt(x - x),
}


class Fault(layers.Layer):
    """What goes wrong in the middle of a model."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """The input, with the fault in it."""
        return FAULTS[self.kind](x)


def mlp(fault: str, width: int = 256) -> tuple[keras.Model, tuple[int, ...]]:
    parts = [layers.Dense(width, "relu"), layers.Dense(width, "relu"), Fault(fault), layers.Dense(width, "relu")]
    return keras.Sequential([*parts, layers.Dense(1)]), (128, 64)


def cnn(fault: str) -> tuple[keras.Model, tuple[int, ...]]:
    parts = []
    for filters in (16, 32, 32):
        parts += [layers.Conv2D(filters, 3, padding="same"), layers.BatchNormalization(), layers.ReLU()]
        parts += [layers.MaxPooling2D()]
    parts.insert(4, Fault(fault))
    return keras.Sequential([*parts, layers.GlobalAveragePooling2D(), layers.Dense(1)]), (32, 32, 32, 3)


def lstm(fault: str) -> tuple[keras.Model, tuple[int, ...]]:
    parts = [layers.Dense(16), Fault(fault), layers.LSTM(64), layers.Dense(1)]
    return keras.Sequential(parts), (32, 24, 8)


def transformer(fault: str) -> tuple[keras.Model, tuple[int, ...]]:
    inside = keras.Input([32, 64])
    first = layers.Dense(64)(inside)
    attended = layers.MultiHeadAttention(4, 16)(first, first)
    normal = layers.LayerNormalization()(first + Fault(fault)(attended))
    wide = layers.Dense(64)(layers.Dense(256, "gelu")(normal))
    out = layers.Dense(1)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(normal + wide)))
    return keras.Model(inside, out), (16, 32, 64)


MODELS = {"MLP": mlp, "CNN": cnn, "LSTM": lstm, "transformer block": transformer}


def step_of(model: keras.Model, shape: tuple[int, ...]) -> Callable[[], None]:
    """One step of training on the same batch."""
    generator = np.random.default_rng(0)
    x = tf.constant(generator.normal(size=shape).astype("float32"))
    y = tf.constant(generator.normal(size=(shape[0], 1)).astype("float32"))
    optimizer = keras.optimizers.Adam(1e-4)
    model(x[:1])
    weights = model.trainable_variables
    optimizer.build(weights)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, weights)
        pairs = [(g, v) for g, v in zip(gradients, weights, strict=True) if g is not None]
        optimizer.apply_gradients(pairs)

    return step


def examined(step: Callable[[], None]) -> None:
    """The step with the doctor beside it, and its report."""
    with doctor() as visit:
        step()
    str(visit)


def cpu(action: Callable[[], None]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def ratio(step: Callable[[], None], pairs: int) -> tuple[float, float, float]:
    """Median seconds of a plain step and of an examined one, and the median of their ratios."""
    tf.config.run_functions_eagerly(True)
    step()
    examined(step)
    plain, under = [], []
    for turn in range(pairs):
        for which in ("plain", "under") if turn % 2 else ("under", "plain"):
            if which == "plain":
                plain.append(cpu(step))
            else:
                under.append(cpu(lambda: examined(step)))
    ratios = [b / a for a, b in zip(plain, under, strict=True)]
    return statistics.median(plain), statistics.median(under), statistics.median(ratios)


def times(pairs: int) -> None:
    print(f"\n{'CPU, one eager step = 1':20} " + " ".join(f"{fault:>9}" for fault in FAULTS))
    for name, build in MODELS.items():
        cells = []
        for fault in FAULTS:
            keras.utils.set_random_seed(0)
            cells.append(f"{ratio(step_of(*build(fault)), pairs)[2]:9.2f}")
        print(f"{name:20} " + " ".join(cells), flush=True)


def weights(pairs: int) -> None:
    """The same operations on more weights."""
    print(f"\n{'MLP, weights':20} {'doctor, ms more':>16} {'ratio':>7}   (a healthy one, and one with a cut)")
    for fault in ("healthy", "cut"):
        for width in (64, 2200):
            step = step_of(*mlp(fault, width))
            count = sum(int(np.prod(v.shape)) for v in mlp_weights(step))
            plain, under, share = ratio(step, pairs)
            print(f"{count:>20,} {1000 * (under - plain):>16.0f} {share:>7.2f}   {fault}", flush=True)


def mlp_weights(step: Callable[[], None]) -> list:
    return next(cell.cell_contents for cell in step.__closure__ or () if isinstance(cell.cell_contents, list))


def memory() -> None:
    """Peaks of fresh processes, and in brackets what the step itself adds to them."""
    print(f"\n{'peak memory, = 1':20} " + " ".join(f"{fault:>12}" for fault in FAULTS))
    for name in MODELS:
        cells = []
        for fault in FAULTS:
            (before, plain), (also, under) = (_peaks(name, fault, way) for way in ("plain", "examined"))
            cells.append(f"{under / plain:5.2f} ({(under - also) / (plain - before):4.2f})")
        print(f"{name:20} " + " ".join(cells), flush=True)


def _peaks(name: str, fault: str, way: str) -> tuple[float, float]:
    """Bytes that a fresh process holds before a step, and at most during it."""
    command = [sys.executable, __file__, "--one", name, fault, way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, peak = done.stdout.split()[-2:]
    return float(before), float(peak)


def one(name: str, fault: str, way: str) -> None:
    """In the fresh process: a step on a batch so large that its tensors outweigh everything else."""
    tf.config.run_functions_eagerly(True)
    model, (batch, *rest) = MODELS[name](fault)
    examined(step_of(model, (2, *rest)))
    step = step_of(model, (batch * LARGER[name], *rest))
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    if way == "plain":
        step()
    else:
        examined(step)
    print(before, _status("VmHWM"))


LARGER = {"MLP": 300, "CNN": 12, "LSTM": 40, "transformer block": 20}


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9, help="pairs of a plain and an examined step")
    parser.add_argument("--only", choices=("time", "memory", "weights"))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    if given.only in (None, "time"):
        times(given.pairs)
    if given.only in (None, "weights"):
        weights(given.pairs)
    if given.only in (None, "memory") and sys.platform == "linux":
        memory()


if __name__ == "__main__":
    main()

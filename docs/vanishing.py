"""Makes the picture in the README: ``python docs/vanishing.py`` writes ``docs/vanishing.png``."""

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gradlab import plots
from gradlab.materials.digits import load_digits

DEPTH, WIDTH = 20, 64
ALT = (
    "The norm of the gradient at each of 20 layers, before any training. With ReLU and He weights it stays within a "
    "factor of five from the last layer to the first. With sigmoid and Glorot weights it falls steadily on its way "
    "back, by more than eleven powers of ten."
)


def gradient_norms(activation: str, initializer: str) -> np.ndarray:
    """The norm of the loss's gradient at each kernel of a fresh classifier of digits, first layer first."""
    keras.utils.set_random_seed(0)
    digits = load_digits(scaled="standardised")
    layers = [keras.layers.Dense(WIDTH, activation, kernel_initializer=initializer) for _ in range(DEPTH)]
    model = keras.Sequential([keras.Input((64,)), *layers, keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with tf.GradientTape(persistent=True) as tape:
        value = loss(digits.y_train, model(digits.x_train))
    return np.array([float(tf.norm(tape.gradient(value, layer.kernel))) for layer in layers])


def main() -> None:
    """Measure two networks and draw them."""
    fig, ax = plots.figure("wide", height=4.0)
    layer = np.arange(1, DEPTH + 1)
    for role, activation, initializer in (("good", "relu", "he_normal"), ("bad", "sigmoid", "glorot_uniform")):
        norms = gradient_norms(activation, initializer)
        name = {"relu": "ReLU", "sigmoid": "sigmoid"}[activation]
        print(f"{name:8} layer 1: {norms[0]:.1e}  layer {DEPTH}: {norms[-1]:.1e}")
        ax.plot(layer, norms, **plots.line(role), label=name)
    plots.log_ticks(ax)
    ax.set(xlabel="layer, from the input to the loss", ylabel="norm of the gradient", xticks=[1, 5, 10, 15, 20])
    plots.label_lines(ax)
    plots.title(
        ax, "Before the first step: the gradient crosses twenty ReLU layers, and is lost in twenty sigmoid ones"
    )
    plots.save(fig, Path(__file__).with_suffix(".png"), ALT)


if __name__ == "__main__":
    main()

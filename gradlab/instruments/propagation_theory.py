"""What mean-field theory expects of one layer: how it changes the second moment of the signal and of its gradient.

With weights that are independent of what comes in, a dense layer of `n` inputs makes sums of mean square
`n * mean(w**2) * mean(x**2) + mean(b**2)`, nearly Gaussian where `n` is large. An activation then keeps
`E[f(z)**2]` of it, and `E[f'(z)**2]` of the gradient.

Source: He et al. 2015, section 2.2; Poole et al. 2016, Exponential expressivity, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import tensorflow as tf

# Places at which expectations over a standard normal variable are taken: the middles of equally likely slices.
_PLACES = np.array([NormalDist().inv_cdf((k + 0.5) / 4001) for k in range(4001)], dtype=np.float64)

_UNCHANGED = (
    tf.keras.layers.Dropout,
    tf.keras.layers.Flatten,
    tf.keras.layers.Reshape,
    tf.keras.layers.Identity,
    tf.keras.layers.Permute,
)
_ELEMENTWISE = (
    tf.keras.layers.Activation,
    tf.keras.layers.ReLU,
    tf.keras.layers.LeakyReLU,
    tf.keras.layers.ELU,
)


@dataclass(frozen=True)
class Law:
    """How one layer changes second moments.

    Attributes:
        fan_in, fan_out: how many inputs a sum has, and into how many sums an input goes; 1 for activations alone.
        weight: the mean square of the weights; 1 for activations alone.
        bias: the mean square of the biases.
        activation: the function after the sum; None for none.
    """

    fan_in: int = 1
    fan_out: int = 1
    weight: float = 1.0
    bias: float = 0.0
    activation: Callable[[Any], Any] | None = None

    def forward(self, before: float) -> tuple[float, float]:
        """The second moment of the output and of the sum, from that of the input."""
        spread = self.fan_in * self.weight * before + self.bias
        if self.activation is None:
            return spread, spread
        return float(np.mean(self._values(spread)[0] ** 2)), spread

    def backward(self, behind: float, spread: float) -> float:
        """The second moment of the gradient at the input, from that at the output."""
        slope = 1.0 if self.activation is None else float(np.mean(self._values(spread)[1] ** 2))
        return behind * slope * self.fan_out * self.weight

    def _values(self, spread: float) -> tuple[np.ndarray, np.ndarray]:
        assert self.activation is not None
        z = tf.constant(np.sqrt(spread) * _PLACES, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = self.activation(z)
        slope = tape.gradient(y, z)
        return np.asarray(y, np.float64), np.zeros(len(_PLACES)) if slope is None else np.asarray(slope, np.float64)


def law_of(layer: Any) -> Law | None:
    """The law of a layer, or None for one about which this theory says nothing."""
    if isinstance(layer, _UNCHANGED):
        return Law()
    if isinstance(layer, _ELEMENTWISE):
        return Law(activation=layer) if not _softmax(layer) else None
    if type(layer) is tf.keras.layers.Dense and not _softmax(layer):
        kernel = np.asarray(layer.kernel, np.float64)
        bias = float(np.mean(np.asarray(layer.bias, np.float64) ** 2)) if layer.use_bias else 0.0
        linear = layer.activation is tf.keras.activations.linear
        return Law(
            kernel.shape[0], kernel.shape[1], float(np.mean(kernel**2)), bias, None if linear else layer.activation
        )
    return None


def _softmax(layer: Any) -> bool:
    return getattr(layer, "activation", None) in (tf.keras.activations.softmax, tf.keras.activations.log_softmax)

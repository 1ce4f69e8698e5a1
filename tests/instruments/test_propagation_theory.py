"""Theory meets measurement: the factor per layer over fifty layers, He's and Glorot's weights, mean of five seeds."""

import keras
import numpy as np
import pytest

from gradlab.instruments.propagation import propagate

DEPTH, WIDTH, SEEDS = 50, 256, range(5)


@pytest.fixture(scope="module")
def factors():
    """A function from activation and initializer to the mean factors per layer, there and back."""
    networks = {}

    def measure(activation, initializer):
        if activation not in networks:
            layers = [keras.layers.Dense(WIDTH, activation, use_bias=False) for _ in range(DEPTH)]
            networks[activation] = keras.Sequential([keras.Input((WIDTH,)), *layers])
        network, logs = networks[activation], []
        for seed in SEEDS:
            for place, layer in enumerate(network.layers):
                layer.kernel.assign(initializer(seed=1000 * seed + place)((WIDTH, WIDTH)))
            x = np.random.default_rng(seed).normal(size=(32, WIDTH)).astype("float32")
            found = propagate(network, x)
            logs.append([np.log(found.factor("forward")), np.log(found.factor("gradient"))])
        return np.exp(np.mean(logs, axis=0))

    return measure


@pytest.mark.parametrize(
    ("activation", "initializer", "expected"),
    [
        ("relu", keras.initializers.HeNormal, 1.0),  # He et al. 2015, equations 10 and 14
        ("relu", keras.initializers.GlorotUniform, np.sqrt(0.5)),  # half of the second moment is lost in each ReLU
        ("linear", keras.initializers.GlorotUniform, 1.0),  # Glorot and Bengio 2010, equations 12 and 16
    ],
)
def test_the_factor_per_layer_is_within_five_per_cent_of_the_formula(factors, activation, initializer, expected):
    forward, gradient = factors(activation, initializer)
    assert forward == pytest.approx(expected, rel=0.05)
    assert gradient == pytest.approx(expected, rel=0.05)

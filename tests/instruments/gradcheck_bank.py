"""The bank: programs whose gradients are known to be right, wrong or not there, by how they are made.

Each entry says what a check should answer, from analysis: a right gradient is TensorFlow's own for a smooth program,
a wrong one is a `tf.custom_gradient` whose rule is off by a known amount. The tests and `benchmarks/gradcheck.py`
both import it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Case:
    """A program to check: `make(dtype, rng)` returns the function, its inputs and, or None, variables."""

    name: str
    make: Callable[[str, np.random.Generator], tuple]
    expected: frozenset[str]
    dtypes: tuple[str, ...] = DTYPES

    def build(self, dtype: str, seed: int = 0) -> tuple[Callable[..., Any], tuple, dict[str, Any]]:
        """The function, the inputs, and the keyword arguments for gradcheck."""
        keras.utils.set_random_seed(seed)
        fn, inputs, *rest = self.make(dtype, np.random.default_rng([seed, len(self.name)]))
        return fn, tuple(inputs), {"variables": rest[0]} if rest else {}


RIGHT: list[Case] = []
WRONG: list[Case] = []
SPECIAL: list[Case] = []


def _enter(bank: list[Case], words: str, dtypes: tuple[str, ...] = DTYPES) -> Callable:
    def enter(make: Callable) -> Callable:
        bank.append(Case(make.__name__.strip("_"), make, frozenset(words.split(" or ")), dtypes))
        return make

    return enter


def right(make: Callable) -> Callable:
    return _enter(RIGHT, "agrees")(make)


def wrong(make: Callable) -> Callable:
    return _enter(WRONG, "disagrees")(make)


def special(words: str, dtypes: tuple[str, ...] = DTYPES) -> Callable:
    return _enter(SPECIAL, words, dtypes)


def every_case() -> Iterator[Case]:
    yield from RIGHT
    yield from WRONG
    yield from SPECIAL


def percent(dtype: str) -> float:
    """What a wrong gradient is off by: 1 % in float32, 0.1 % in float64."""
    return 1.01 if dtype == "float32" else 1.001


# right gradients: smooth programs of TensorFlow's own operations


def _elementwise(name: str, operation: Callable, low: float, high: float) -> None:
    def make(dtype: str, rng: np.random.Generator) -> tuple:
        return lambda x: tf.reduce_sum(operation(x)), [rng.uniform(low, high, 5).astype(dtype)]

    make.__name__ = name
    right(make)


for _name, _operation, _low, _high in [
    ("square", tf.square, -2, 2),
    ("cube_small", lambda x: x**3, 1e-6, 2e-6),
    ("cube_large", lambda x: x**3, 1e5, 1e6),
    ("exp_steep", tf.exp, 5, 20),
    ("exp_of_small", tf.exp, 1e-6, 2e-6),
    ("log_small", tf.math.log, 1e-6, 1e-5),
    ("log_large", tf.math.log, 1e5, 1e6),
    ("sqrt_near_zero", tf.sqrt, 1e-6, 1e-4),
    ("reciprocal", lambda x: 1 / x, 0.1, 1),
    ("reciprocal_tiny", lambda x: 1 / x, 1e-6, 1e-5),
    ("sin_fast", lambda x: tf.sin(1000 * x), -1, 1),
    ("sin_of_large", tf.sin, 1e3, 2e3),
    ("tanh", tf.tanh, -3, 3),
    ("sigmoid_of_small", lambda x: tf.sigmoid(x) ** 2, -1e-6, 1e-6),
    ("softplus_steep", lambda x: tf.nn.softplus(50 * x), -1, 1),
    ("gelu", tf.nn.gelu, -3, 3),
    ("lgamma", tf.math.lgamma, 0.5, 20),
    ("erf", tf.math.erf, -2, 2),
    ("scaled_down", lambda x: 1e-6 * tf.sin(x), -3, 3),
    ("scaled_up", lambda x: 1e6 * tf.sin(x), -3, 3),
    ("relu_away_from_zero", tf.nn.relu, 0.1, 1),
    ("clip_inside", lambda x: tf.clip_by_value(x, -10, 10) ** 2, -1, 1),
    ("clip_outside", lambda x: tf.clip_by_value(x, -0.5, 0.5), 1, 2),
    ("dead_relu", lambda x: tf.nn.relu(x) + 5.0, -3, -1),
    ("power", lambda x: x**2.5, 0.1, 3),
    ("atan2", lambda x: tf.atan2(x, x**2 + 1), -2, 2),
]:
    _elementwise(_name, _operation, _low, _high)


@right
def offset_of_ten_thousand(dtype, rng):
    return lambda x: tf.reduce_sum(x**2) + 1e4, [rng.normal(size=20).astype(dtype)]


@right
def offset_inside(dtype, rng):
    return lambda x: (tf.reduce_sum(x**2) + 1e4) - 1e4, [rng.normal(size=20).astype(dtype)]


@right
def offset_inside_half(dtype, rng):
    return lambda x, y: tf.reduce_sum(x**2) + tf.reduce_sum((y + 1e3) - 1e3), [
        rng.normal(size=6).astype(dtype),
        rng.normal(size=6).astype(dtype),
    ]


@right
def bottom_of_a_parabola(dtype, rng):
    return lambda x: (x - 1) ** 2, [np.ones((), dtype)]


@right
def saddle(dtype, rng):
    return lambda x: x[0] ** 2 - x[1] ** 2 + x[0] * x[1], [np.zeros(2, dtype)]


@right
def mixed_scales(dtype, rng):
    x = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6]).astype(dtype)
    return lambda x: tf.reduce_sum(tf.math.log(x)), [x]


@right
def mixed_inputs(dtype, rng):
    return lambda a, b: tf.reduce_sum(a * 1e6) * tf.reduce_sum(b * 1e-6), [
        (1e-6 * rng.normal(size=5)).astype(dtype),
        (1e6 * rng.normal(size=5)).astype(dtype),
    ]


@right
def matmul_chain(dtype, rng):
    return lambda x, w, v: tf.tanh(tf.tanh(x @ w) @ v), [
        rng.normal(size=(5, 6)).astype(dtype),
        rng.normal(size=(6, 7)).astype(dtype),
        rng.normal(size=(7, 2)).astype(dtype),
    ]


@right
def softmax_cross_entropy(dtype, rng):
    labels = rng.integers(0, 10, 8)
    return (
        lambda logits, y: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)),
        [3 * rng.normal(size=(8, 10)).astype(dtype), labels],
    )


@right
def logsumexp(dtype, rng):
    return tf.reduce_logsumexp, [rng.normal(size=30).astype(dtype) * 5]


@right
def softmax_of_small(dtype, rng):
    return tf.nn.softmax, [(1e-6 * rng.normal(size=(3, 5))).astype(dtype)]


@right
def convolution(dtype, rng):
    return lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"), [
        rng.normal(size=(2, 6, 6, 2)).astype(dtype),
        rng.normal(size=(3, 3, 2, 4)).astype(dtype),
    ]


@right
def batch_normalization(dtype, rng):
    layer = keras.layers.BatchNormalization(dtype=dtype)
    layer.build((None, 5))
    c = rng.normal(size=(16, 5)).astype(dtype)
    return lambda x: tf.reduce_sum(c * layer(x, training=True)), [rng.normal(2, 3, size=(16, 5)).astype(dtype)]


@right
def cumulative_product(dtype, rng):
    return tf.math.cumprod, [rng.uniform(0.5, 1.5, 12).astype(dtype)]


@right
def embedding(dtype, rng):
    ids = rng.integers(0, 40, (6, 5))
    return lambda table, i: tf.reduce_sum(tf.tanh(tf.gather(table, i)) ** 2, axis=-1), [
        rng.normal(size=(40, 8)).astype(dtype),
        ids,
    ]


@right
def wide_relu_network(dtype, rng):
    w, v = (rng.normal(size=s).astype(dtype) / 8 for s in ((64, 256), (256, 1)))
    x = rng.normal(size=(8, 64)).astype(dtype)
    return lambda w, v: tf.reduce_mean((tf.nn.relu(x @ w) @ v) ** 2), [w, v]


@right
def keras_model(dtype, rng):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(3)])
    x, y = rng.normal(size=(10, 6)).astype("float32"), rng.normal(size=(10, 3)).astype("float32")
    loss = keras.losses.MeanSquaredError()
    return lambda: loss(y, model(x)), [], model.trainable_variables


@right
def dropout_model(dtype, rng):
    drop = keras.layers.Dropout(0.5, dtype=dtype)
    return lambda x: tf.reduce_sum(drop(x, training=True) ** 2), [rng.normal(size=(3, 4)).astype(dtype)]


@right
def variable_input(dtype, rng):
    w = tf.Variable(rng.normal(size=(3, 3)).astype(dtype))
    return lambda x, w: tf.linalg.det(w) + tf.reduce_sum(x @ w), [rng.normal(size=(2, 3)).astype(dtype), w]


@right
def two_outputs(dtype, rng):
    return lambda x: {"a": 1e6 * tf.sin(x), "b": 1e-6 * tf.cos(x)}, [rng.normal(size=6).astype(dtype)]


@right
def many_inputs(dtype, rng):
    return lambda x: tf.reduce_sum(tf.sin(x) * x), [rng.normal(size=20_000).astype(dtype)]


@right
def distance_loss(dtype, rng):
    target = rng.normal(size=(7, 3)).astype(dtype)
    return lambda x: tf.norm(x - target, axis=-1), [rng.normal(size=(7, 3)).astype(dtype)]


@right
def layer_norm(dtype, rng):
    def fn(x):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6)

    return fn, [rng.normal(100, 2, size=(4, 9)).astype(dtype)]


@right
def attention(dtype, rng):
    def fn(q, k, v):
        return tf.nn.softmax(q @ tf.linalg.matrix_transpose(k) / 2.0) @ v

    return fn, [rng.normal(size=(2, 4, 4)).astype(dtype) for _ in range(3)]


@right
def solve(dtype, rng):
    return lambda a, b: tf.linalg.solve(a @ tf.transpose(a) + tf.eye(4, dtype=a.dtype), b), [
        rng.normal(size=(4, 4)).astype(dtype),
        rng.normal(size=(4, 1)).astype(dtype),
    ]


# wrong gradients: rules that are off by a known amount


def _rule(forward: Callable, backward: Callable) -> Callable:
    """An operation with `backward(upstream, *inputs)` as its gradient rule."""

    @tf.custom_gradient
    def operation(*inputs):
        return forward(*inputs), lambda upstream: backward(upstream, *inputs)

    return operation


def _times(factor: Any) -> Callable:
    """The identity whose gradient is `factor` times the right one."""
    return _rule(tf.identity, lambda u, x: u * tf.cast(factor, u.dtype))


@wrong
def slightly_off(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(tf.tanh(bad(x)) ** 2), [rng.normal(size=(4, 5)).astype(dtype)]


@wrong
def slightly_off_many(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(tf.sin(bad(x)) * x), [rng.normal(size=5000).astype(dtype)]


@wrong
def slightly_off_small_inputs(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(bad(x) ** 2), [(1e-6 * rng.normal(size=9)).astype(dtype)]


@wrong
def slightly_off_large_inputs(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(tf.math.log(bad(x))), [rng.uniform(1e5, 1e6, 9).astype(dtype)]


@wrong
def slightly_off_with_offset(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(bad(x) ** 2) + 1e4, [rng.normal(size=20).astype(dtype)]


@wrong
def slightly_off_fast_sine(dtype, rng):
    bad = _times(percent(dtype))
    return lambda x: tf.reduce_sum(tf.sin(1000 * bad(x))), [rng.normal(size=5).astype(dtype)]


@wrong
def one_zeroed_of_500(dtype, rng):
    mask = np.ones(500, dtype)
    mask[rng.integers(500)] = 0
    bad = _times(mask)
    return lambda x: tf.reduce_sum(tf.sin(bad(x)) + x), [rng.normal(size=500).astype(dtype)]


@wrong
def one_zeroed_of_500_products(dtype, rng):
    mask = np.ones(500, dtype)
    mask[rng.integers(500)] = 0
    bad = _times(mask)
    target = rng.normal(size=500).astype(dtype)
    return lambda x: tf.reduce_mean((bad(x) - target) ** 2), [rng.normal(size=500).astype(dtype)]


@wrong
def one_off_of_500(dtype, rng):
    mask = np.ones(500, dtype)
    mask[rng.integers(500)] = percent(dtype)
    bad = _times(mask)
    return lambda x: tf.reduce_sum(bad(x) * 3.0), [rng.uniform(0.5, 2, 500).astype(dtype)]


@wrong
def transposed(dtype, rng):
    bad = _rule(
        lambda x, w: x @ w, lambda u, x, w: (u @ tf.transpose(w), tf.transpose(tf.matmul(x, u, transpose_a=True)))
    )
    return lambda x, w: tf.reduce_sum(tf.tanh(bad(x, w)) ** 2), [
        rng.normal(size=(5, 4)).astype(dtype),
        rng.normal(size=(4, 4)).astype(dtype),
    ]


@wrong
def upstream_forgotten(dtype, rng):
    return _rule(tf.square, lambda u, x: 2 * x), [rng.normal(size=(3, 4)).astype(dtype)]


@wrong
def upstream_forgotten_scalar(dtype, rng):
    return _rule(lambda x: tf.reduce_sum(x**2), lambda u, x: 2 * x), [rng.normal(size=(3, 4)).astype(dtype)]


@wrong
def sum_for_mean(dtype, rng):
    bad = _rule(tf.reduce_mean, lambda u, x: u * tf.ones_like(x))
    return lambda x: bad(x**2), [rng.normal(size=12).astype(dtype)]


@wrong
def sign_flipped(dtype, rng):
    return lambda x: tf.reduce_sum(_times(-1.0)(x) ** 3), [rng.normal(size=7).astype(dtype)]


@wrong
def forgotten_inner_derivative(dtype, rng):
    bad = _rule(lambda x: tf.sin(3 * x), lambda u, x: u * tf.cos(3 * x))
    return lambda x: tf.reduce_sum(bad(x)), [rng.normal(size=7).astype(dtype)]


@wrong
def stopped_half(dtype, rng):
    return lambda x: tf.reduce_sum(x * tf.stop_gradient(x)), [rng.normal(size=7).astype(dtype)]


@wrong
def numpy_inside(dtype, rng):
    kind = tf.as_dtype(dtype)
    return lambda x: tf.reduce_sum(tf.py_function(lambda v: np.sin(v.numpy()), [x], kind)), [
        rng.normal(size=7).astype(dtype)
    ]


@wrong
def recomputed_dropout(dtype, rng):
    drop = keras.layers.Dropout(0.5, dtype=dtype)
    block = tf.recompute_grad(lambda x: drop(x, training=True) ** 2)
    return lambda x: tf.reduce_sum(block(x)), [rng.normal(size=(4, 5)).astype(dtype)]


@wrong
def relu_rule_for_leaky(dtype, rng):
    bad = _rule(lambda x: tf.nn.leaky_relu(x, 0.01), lambda u, x: u * tf.cast(x > 0, u.dtype))
    return bad, [rng.normal(size=30).astype(dtype)]


@wrong
def softmax_diagonal_only(dtype, rng):
    bad = _rule(tf.nn.softmax, lambda u, x: u * tf.nn.softmax(x) * (1 - tf.nn.softmax(x)))
    return bad, [rng.normal(size=(4, 5)).astype(dtype)]


@wrong
def rounded_straight_through(dtype, rng):
    return lambda x: tf.reduce_sum(_rule(tf.round, lambda u, x: u)(x)), [rng.uniform(-0.4, 0.4, 5).astype(dtype)]


@wrong
def wide_relu_network_off(dtype, rng):
    w, v = (rng.normal(size=s).astype(dtype) / 8 for s in ((64, 256), (256, 1)))
    x = rng.normal(size=(8, 64)).astype(dtype)
    bad = _times(percent(dtype))
    return lambda w, v: tf.reduce_mean((tf.nn.relu(x @ bad(w)) @ v) ** 2), [w, v]


@wrong
def bias_summed_over_wrong_axis(dtype, rng):
    bad = _rule(lambda x, b: x + b, lambda u, x, b: (u, tf.reduce_sum(u, 1)))
    return lambda x, b: tf.sin(bad(x, b)), [rng.normal(size=(4, 4)).astype(dtype), rng.normal(size=4).astype(dtype)]


@wrong
def clipped_gradient(dtype, rng):
    bad = _rule(tf.identity, lambda u, x: tf.clip_by_value(u, -1.0, 1.0))
    return lambda x: tf.reduce_sum(tf.exp(bad(x))), [rng.normal(size=9).astype(dtype)]


@wrong
def variance_detached(dtype, rng):
    def fn(x):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) / tf.sqrt(tf.stop_gradient(variance) + 1e-3)

    return fn, [rng.normal(size=(4, 9)).astype(dtype)]


# points where there is no derivative, or none that TensorFlow gives


@special("kink")
def abs_at_zero(dtype, rng):
    return lambda x: tf.reduce_sum(tf.abs(x)), [np.array([0.0, 1.0, -2.0]).astype(dtype)]


@special("kink")
def relu_at_zero(dtype, rng):
    return tf.nn.relu, [np.array([-1.0, 0.0, 2.0]).astype(dtype)]


@special("kink")
def relus_cancelling_at_zero(dtype, rng):
    return lambda x: tf.nn.relu(x[0]) - tf.nn.relu(x[1]), [np.zeros(2, dtype)]


@special("kink")
def tie_of_two(dtype, rng):
    return lambda x, y: tf.reduce_sum(tf.maximum(x, y)), [
        np.array([1.0, 2.0]).astype(dtype),
        np.array([1.0, 3.0]).astype(dtype),
    ]


@special("kink")
def tie_in_reduce_max(dtype, rng):
    return tf.reduce_max, [np.array([3.0, 1.0, 3.0]).astype(dtype)]


@special("kink")
def tie_in_max_pool(dtype, rng):
    x = rng.uniform(0, 1, (1, 4, 4, 1)).astype(dtype)
    x[0, :2, :2, 0] = 2.0
    return lambda x: tf.reduce_sum(tf.nn.max_pool2d(x, 2, 2, "VALID")), [x]


@special("kink")
def jump_at_zero(dtype, rng):
    return lambda x: tf.reduce_sum(tf.sign(x)), [np.array([0.0, 1.0]).astype(dtype)]


@special("kink")
def relu_network_without_bias_at_zero(dtype, rng):
    w = rng.normal(size=(4, 6)).astype(dtype)
    return lambda x: tf.reduce_sum(tf.nn.relu(x @ w)), [np.zeros((1, 4), dtype)]


@special("not finite")
def norm_at_zero(dtype, rng):
    return lambda x: tf.norm(x), [np.zeros(3, dtype)]


@special("not finite")
def sqrt_at_zero(dtype, rng):
    return lambda x: tf.reduce_sum(tf.sqrt(x)), [np.array([0.0, 1.0]).astype(dtype)]


@special("not finite")
def log_of_zero(dtype, rng):
    return lambda x: tf.reduce_sum(tf.math.log(x)), [np.array([0.0, 1.0]).astype(dtype)]


@special("not finite")
def guarded_log(dtype, rng):
    return lambda x: tf.where(x > 0, tf.math.log(x), 0.0), [np.array([0.0, 1.0]).astype(dtype)]


@special("no gradient")
def int_cast(dtype, rng):
    return lambda x: tf.reduce_sum(tf.cast(tf.cast(x, "int32"), dtype)), [np.array([1.4, 2.4]).astype(dtype)]


@special("no gradient")
def rounded(dtype, rng):
    return lambda x: tf.reduce_sum(tf.round(x) ** 2), [np.array([1.4, 2.4]).astype(dtype)]


@special("no gradient")
def argmax(dtype, rng):
    return lambda x: tf.argmax(x), [rng.normal(size=5).astype(dtype)]


@special("no gradient")
def numpy_function(dtype, rng):
    return lambda x: tf.reduce_sum(tf.numpy_function(np.sin, [x], dtype)), [rng.normal(size=5).astype(dtype)]


@special("no gradient")
def numpy_in_the_middle(dtype, rng):
    return lambda x, y: tf.reduce_sum(y * np.sin(x.numpy())), [
        rng.normal(size=5).astype(dtype),
        rng.normal(size=5).astype(dtype),
    ]


@special("no gradient")
def one_input_rounded(dtype, rng):
    return lambda x, y: tf.reduce_sum(y * tf.round(x)), [
        np.array([0.3, 0.2]).astype(dtype),
        rng.normal(size=2).astype(dtype),
    ]


@special("agrees")
def unused_input(dtype, rng):
    return lambda x, y: tf.reduce_sum(y**2), [rng.normal(size=5).astype(dtype), rng.normal(size=5).astype(dtype)]


@special("too noisy", ("float32",))
def slope_below_rounding(dtype, rng):
    return lambda x: 1e6 + 1e-4 * tf.reduce_sum(tf.sin(x)), [rng.normal(size=5).astype(dtype)]


@special("too noisy", ("float32",))
def small_slope_behind_an_offset(dtype, rng):
    return lambda x: (1e-3 * tf.reduce_sum(tf.sin(x)) + 1e4) - 1e4, [rng.normal(size=5).astype(dtype)]

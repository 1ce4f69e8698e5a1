"""How the scale of the signal and of its gradient change from layer to layer, at this moment.

from gradlab import propagate

result = propagate(model, x)
print(result)
result.plot()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from gradlab.instruments.propagation_theory import Law, law_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOCK = threading.Lock()


@dataclass(frozen=True)
class LayerScale:
    """One call of one layer.

    Attributes:
        name: the layer's path, with the number of the call where a layer is called more than once.
        kind: the layer's class.
        shape: the shape of its output.
        forward_std: standard deviation of the output's entries (about their mean).
        forward_rms: square root of the mean of their squares (the second moment about zero, which He et al. follow).
        gradient_std: standard deviation of the entries of the loss's gradient with respect to the output.
        gradient_rms: square root of the mean of their squares. NaN where no gradient arrives.
        dead_fraction: share of the output's units (last axis) that are exactly zero for every example and place.
        forward_theory: what mean-field theory expects for `forward_rms`, given the weights' scale and the layers
            before; NaN where it says nothing (see `propagation_theory`).
        gradient_theory: the same for `gradient_rms`, given the layers behind.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    forward_std: float
    forward_rms: float
    gradient_std: float
    gradient_rms: float
    dead_fraction: float
    forward_theory: float = float("nan")
    gradient_theory: float = float("nan")


@dataclass(frozen=True)
class Propagation:
    """The scales of all layers, in the order in which they were called.

    Attributes:
        rows: one `LayerScale` for each call of a layer.
        input_rms: the square root of the mean square of the model's input.
        loss: the value of the loss whose gradient was taken.
    """

    rows: tuple[LayerScale, ...]
    input_rms: float
    loss: float

    def __str__(self) -> str:
        width = min(max((len(row.name) for row in self.rows), default=5), 34)
        head = f"{'layer':<{width}}  {'forward std':>11}  {'gradient std':>12}  {'dead':>6}"
        lines = [head, "-" * len(head)]
        for row in self.rows:
            name = row.name if len(row.name) <= width else "..." + row.name[-(width - 3) :]
            gradient = "none" if np.isnan(row.gradient_std) else f"{row.gradient_std:.2e}"
            lines.append(f"{name:<{width}}  {row.forward_std:>11.2e}  {gradient:>12}  {row.dead_fraction:>6.1%}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self) -> Figure:
        """Draw forward and gradient scale (root mean square) over the layers, with the theory where there is one."""
        from gradlab.instruments.propagation_plot import draw

        return draw(self)

    def factor(self, of: str = "gradient") -> float:
        """The mean factor per layer (a geometric mean) by which the scale changes on its way.

        Args:
            of: `"forward"` (from the first layer to the last) or `"gradient"` (from the last to the first).

        Returns:
            1.0 where the scale is kept; NaN with fewer than two layers or a scale of zero.

        Raises:
            ValueError: `of` is neither.
        """
        if of not in ("forward", "gradient"):
            raise ValueError(f'factor takes of="forward" or of="gradient", not {of!r}')
        scales = [row.forward_rms if of == "forward" else row.gradient_rms for row in self.rows]
        if len(scales) < 2 or not scales[0] > 0 or not scales[-1] > 0:
            return float("nan")
        ratio = scales[-1] / scales[0] if of == "forward" else scales[0] / scales[-1]
        return float(ratio ** (1 / (len(scales) - 1)))


@dataclass
class _Call:
    """One call of a layer while the model runs."""

    layer: Any
    inputs: list[Any]
    outputs: list[Any]
    order: int


def propagate(model: Any, x: Any, loss: Callable[[Any], Any] | None = None, *, training: bool = True) -> Propagation:
    """Send one batch through a model and its gradient back, and say at each layer how large both are.

    Args:
        model: a Keras model or layer: sequential, functional or subclassed, with shared layers, several inputs and
            outputs.
        x: one batch of inputs, as the model takes them.
        loss: a function from the model's output to a scalar. Without it each output is multiplied by fixed random
            numbers with mean 0 and standard deviation 1 and summed, so that the gradient starts with a scale of 1.
        training: whether layers such as Dropout and BatchNormalization run as in training.

    Returns:
        A `Propagation`; print it, look at its `rows`, or `plot()` it.

    Nothing is changed: what the run does to moving statistics and seeds is put back. Layers that come with Keras are
    one row each; models and layers of one's own are opened up, unless they call no other layer. Scales are of all
    entries of a tensor together; a gradient is that of the loss with respect to the layer's output.

    Raises:
        TypeError: `model` is not a Keras model or layer, or the loss is not a function.
        ValueError: the loss is not a scalar, or the model calls no layer.

    Source: He et al. 2015, Delving Deep into Rectifiers, section 2.2; Glorot and Bengio 2010, section 4.2.
    """
    if not isinstance(model, tf.keras.layers.Layer):
        raise TypeError(f"propagate takes a Keras model or layer, not a {type(model).__name__}")
    if loss is not None and not callable(loss):
        raise TypeError("propagate takes a loss as a function of the model's output, such as loss=lambda y: ...")
    x = tf.nest.map_structure(tf.convert_to_tensor, x)
    if not model.built:
        model(x)
    floats = [t for t in tf.nest.flatten(x) if t.dtype.is_floating]
    calls: list[_Call] = []
    with _as_before(model), tf.GradientTape() as tape:
        tape.watch(floats)
        with _listening(calls):
            output = _call(model, x, training)
        value = _default_loss(output) if loss is None else tf.convert_to_tensor(loss(output))
        if value.shape.rank != 0:
            raise ValueError(f"the loss must be a scalar; it has the shape {tuple(value.shape)}: take its mean or sum")
    if not calls:
        raise ValueError("this model calls no Keras layer, so there are no rows to show")
    gradients = tape.gradient(value, [call.outputs for call in calls])
    rows = [_row(call, gradient) for call, gradient in zip(_named(calls), gradients, strict=True)]
    input_rms = _rms(floats[0]) if floats else float("nan")
    laws = [law_of(call.layer) for call in calls]
    rows = _with_theory(rows, calls, laws, floats, input_rms)
    return Propagation(tuple(rows), input_rms, float(value))


def _call(model: Any, x: Any, training: bool) -> Any:
    try:
        return model(x, training=training)
    except TypeError as error:
        if "training" not in str(error):
            raise
        return model(x)


def _default_loss(output: Any) -> Any:
    total = tf.constant(0.0)
    for place, part in enumerate(tf.nest.flatten(output)):
        noise = tf.random.stateless_normal(tf.shape(part), seed=[7, place], dtype=tf.float32)
        total += tf.reduce_sum(tf.cast(part, tf.float32) * noise)
    return total


@contextmanager
def _as_before(model: Any) -> Iterator[None]:
    """Moving statistics, seeds and other weights that are not trained are afterwards what they were."""
    kept = [(variable, tf.identity(variable.value)) for variable in model.non_trainable_variables]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


def _is_closed(layer: Any) -> bool:
    """Whether a layer is one row, whatever it calls inside: those that come with Keras, models excepted."""
    return type(layer).__module__.split(".")[0] == "keras" and not isinstance(layer, tf.keras.Model)


@contextmanager
def _listening(calls: list[_Call]) -> Iterator[None]:
    """Note each call of a layer in this thread."""
    home = tf.keras.layers.Layer
    thread, depth, order = threading.get_ident(), [0], [0]
    with _LOCK:
        original = home.__call__

        def heard(layer: Any, *given: Any, **named: Any) -> Any:
            if threading.get_ident() != thread or depth[0]:
                return original(layer, *given, **named)
            closed = _is_closed(layer)
            before = len(calls)
            order[0] += 1
            mine = order[0]
            depth[0] += closed
            try:
                output = original(layer, *given, **named)
            finally:
                depth[0] -= closed
            outputs = [t for t in tf.nest.flatten(output) if tf.is_tensor(t) and t.dtype.is_floating]
            if outputs and (closed or len(calls) == before) and not _is_input(layer):
                inputs = [t for t in tf.nest.flatten((given, named)) if tf.is_tensor(t)]
                calls.append(_Call(layer, inputs, outputs, mine))
            return output

        home.__call__ = heard
        try:
            yield
        finally:
            home.__call__ = original


def _is_input(layer: Any) -> bool:
    return isinstance(layer, tf.keras.layers.InputLayer)


@dataclass
class _NamedCall:
    name: str
    call: _Call


def _named(calls: list[_Call]) -> list[_NamedCall]:
    """Each call with the layer's path; a layer that is called again gets the number of the call."""
    times: dict[int, int] = {}
    total: dict[int, int] = {}
    for call in calls:
        total[id(call.layer)] = total.get(id(call.layer), 0) + 1
    found = []
    for call in calls:
        times[id(call.layer)] = times.get(id(call.layer), 0) + 1
        name = str(getattr(call.layer, "path", None) or call.layer.name)
        if total[id(call.layer)] > 1:
            name += f" (call {times[id(call.layer)]})"
        found.append(_NamedCall(name, call))
    return found


def _row(named: _NamedCall, gradients: list[Any]) -> LayerScale:
    outputs = named.call.outputs
    values = np.concatenate([_flat(t) for t in outputs])
    slopes = [_flat(g) for g in gradients if g is not None]
    gradient = np.concatenate(slopes) if slopes else np.array([np.nan])
    return LayerScale(
        named.name,
        type(named.call.layer).__name__,
        tuple(outputs[0].shape),
        float(values.std()),
        float(np.sqrt(np.mean(values**2))),
        float(gradient.std()),
        float(np.sqrt(np.mean(gradient**2))),
        _dead(outputs[0]),
    )


def _flat(tensor: Any) -> np.ndarray:
    return np.asarray(tf.convert_to_tensor(tensor), dtype=np.float64).ravel()


def _rms(tensor: Any) -> float:
    return float(np.sqrt(np.mean(_flat(tensor) ** 2)))


def _dead(tensor: Any) -> float:
    values = np.asarray(tensor)
    units = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    return float(np.mean(~np.any(units != 0, axis=0))) if units.size else 0.0


def _with_theory(
    rows: list[LayerScale], calls: list[_Call], laws: list[Law | None], inputs: list[Any], input_rms: float
) -> list[LayerScale]:
    """The rows with what theory expects: forward from the last measured scale, backward from the next one."""
    known: dict[int, float] = {id(inputs[0]): input_rms**2} if inputs else {}
    spreads: list[float] = []
    rows = list(rows)
    for place, (call, law) in enumerate(zip(calls, laws, strict=True)):
        before = next((known[id(t)] for t in call.inputs if id(t) in known), None)
        if law is not None and before is not None:
            expected, spread = law.forward(before)
            rows[place] = replace(rows[place], forward_theory=float(np.sqrt(expected)))
        else:
            expected, spread = rows[place].forward_rms ** 2, float("nan")
        spreads.append(spread)
        known[id(call.outputs[0])] = expected
    users: dict[int, list[int]] = {}
    for place, call in enumerate(calls):
        for tensor in {id(t) for t in call.inputs}:
            users.setdefault(tensor, []).append(place)
    expected_back: dict[int, float] = {}
    for place in reversed(range(len(calls))):
        used_by = users.get(id(calls[place].outputs[0]), [])
        if len(used_by) == 1 and laws[used_by[0]] is not None and not np.isnan(spreads[used_by[0]]):
            after = used_by[0]
            law = laws[after]
            assert law is not None
            value = law.backward(expected_back[after], spreads[after])
            rows[place] = replace(rows[place], gradient_theory=float(np.sqrt(value)))
        else:
            value = rows[place].gradient_rms ** 2
        expected_back[place] = value
    return rows

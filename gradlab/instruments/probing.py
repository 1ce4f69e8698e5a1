"""A user's function as a plain function of one long vector, which leaves everything as it was.

Tensors and variables are laid end to end in float64; each call rounds them to their own dtypes, puts variables in
place, and reads every floating result back as one vector. Variables, layer state and Python's and NumPy's global
generators are restored.
"""

import gc
import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from gradlab.instruments.gradcheck_report import say

Array = NDArray[np.float64]

MOST_STATE_BYTES = 2**28
"""Variables beyond this total are not watched for changes; the smallest are watched first."""


@dataclass(frozen=True)
class Slot:
    """One float input: its name, its shape, where it stands in the long vector, and its variable if it is one."""

    name: str
    start: int
    array: NDArray
    variable: tf.Variable | None

    @property
    def stop(self) -> int:
        """One past the last place in the long vector."""
        return self.start + self.array.size

    @property
    def span(self) -> slice:
        """The places in the long vector."""
        return slice(self.start, self.stop)

    def element(self, place: int) -> str:
        """The name of one element, such as ``x[3, 4]``, by its place in the long vector."""
        if self.array.ndim == 0:
            return self.name
        index = np.unravel_index(place - self.start, self.array.shape)
        return f"{self.name}[{', '.join(str(int(i)) for i in index)}]"


@dataclass(frozen=True)
class Outputs:
    """What one call returned: floating results as one vector, with machine epsilon each; the rest as it came."""

    values: Array
    epsilon: Array
    others: tuple[NDArray, ...]
    shapes: tuple[tuple[int, ...], ...]

    def same(self, other: "Outputs") -> bool:
        """True if both are equal to the last bit."""
        return (
            np.array_equal(self.values, other.values, equal_nan=True)
            and len(self.others) == len(other.others)
            and all(np.array_equal(a, b) for a, b in zip(self.others, other.others, strict=True))
        )


@dataclass(frozen=True)
class _Hole:
    """Stands in the inputs where the slot of this number belongs."""

    number: int


class Program:
    """The function, its inputs taken apart, and the state that it touches."""

    def __init__(self, fn: Callable[..., Any], inputs: Sequence[Any], variables: Sequence[Any] | None) -> None:
        self.fn = fn
        self.slots: list[Slot] = []
        names = _argument_names(fn, len(inputs))
        self._inputs = [self._take_apart(value, name) for value, name in zip(inputs, names, strict=True)]
        for variable in variables or ():
            self._add_variable(variable)
        if not self.slots:
            raise ValueError(say("no float input"))
        self.start = np.concatenate([slot.array.ravel().astype(np.float64) for slot in self.slots])
        self.state: list[tuple[tf.Variable, NDArray]] = []
        self.reseeds = False
        self._python = random.getstate()
        self._numpy = np.random.get_state()  # noqa: NPY002

    @property
    def epsilon(self) -> float:
        """The coarsest machine epsilon among the inputs."""
        return max(machine_epsilon(slot.array.dtype) for slot in self.slots)

    @property
    def dtype(self) -> str:
        """The name of the coarsest dtype among the inputs."""
        return max((slot.array.dtype for slot in self.slots), key=machine_epsilon).name

    def settle(self) -> tuple[Outputs, list[str]]:
        """Call the function a few times at its inputs: find what it changes and whether it repeats.

        Returns:
            The outputs at the inputs, and notes among "random", "unrepeatable" and "state".
        """
        notes: list[str] = []
        before = _every_variable()
        born: list[tf.Variable] = []

        def note_birth(creator: Callable[..., tf.Variable], **options: Any) -> tf.Variable:
            born.append(creator(**options))
            return born[-1]

        with tf.variable_creator_scope(note_birth):
            self.evaluate(self.start)  # lazily built layers make their variables here
        self._restore_changed(before)
        before += _values_of(born)
        first = self.evaluate(self.start)
        self.gradient(self.start, np.ones(len(first.values)))
        self.state = self._restore_changed(before)
        ours = {id(slot.variable) for slot in self.slots}
        if any(id(variable) not in ours for variable, _ in self.state):
            notes.append("state")
        first = self.evaluate(self.start)
        if not first.same(self.evaluate(self.start)) or not self._gradient_repeats(first):
            self.reseeds = True
            first = self.evaluate(self.start)
            repeats = first.same(self.evaluate(self.start)) and self._gradient_repeats(first)
            notes.append("random" if repeats else "unrepeatable")
        return first, notes

    def _gradient_repeats(self, outputs: Outputs) -> bool:
        ones = np.ones(len(outputs.values))
        first, second = self.gradient(self.start, ones), self.gradient(self.start, ones)
        return all(
            (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True))
            for a, b in zip(first, second, strict=True)
        )

    def rounded(self, place: Array) -> Array:
        """The long vector as the function will see it: each part rounded to its own dtype."""
        with np.errstate(over="ignore"):
            parts = [place[slot.span].astype(slot.array.dtype).astype(np.float64) for slot in self.slots]
        return np.concatenate(parts)

    def evaluate(self, place: Array) -> Outputs:
        """The outputs at a place of the long vector."""
        arguments, _ = self._arrange(place)
        return _read(self._call(arguments))

    def gradient(self, place: Array, upstream: Array) -> list[NDArray | None]:
        """The gradient of ``sum(upstream * outputs)``, one array or None per slot, as TensorFlow gives it."""
        arguments, sources = self._arrange(place)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            targets = _floats(self._call(arguments))
        if not targets:
            return [None] * len(self.slots)
        parts, at = [], 0
        for target in targets:
            size = int(np.prod(target.shape))
            parts.append(tf.cast(tf.reshape(tf.constant(upstream[at : at + size]), target.shape), target.dtype))
            at += size
        gradients = tape.gradient(targets, sources, output_gradients=parts)
        return [
            None if gradient is None else np.asarray(tf.convert_to_tensor(gradient), np.float64)
            for gradient in gradients
        ]

    def flat_gradient(self, place: Array, upstream: Array) -> Array:
        """The gradient as one long vector; None reads as zeros."""
        return self.joined(self.gradient(place, upstream))

    def joined(self, parts: list[NDArray | None]) -> Array:
        """One array or None per slot, end to end; None reads as zeros."""
        return np.concatenate(
            [np.zeros(s.array.size) if p is None else p.ravel() for s, p in zip(self.slots, parts, strict=True)]
        )

    def slot_of(self, place: int) -> Slot:
        """The slot in which a place of the long vector lies."""
        return next(slot for slot in self.slots if place < slot.stop)

    def restore(self) -> None:
        """Put every variable and the global generators of Python and NumPy back."""
        for variable, value in self.state:
            variable.assign(value)
        for slot in self.slots:
            if slot.variable is not None:
                slot.variable.assign(slot.array)
        random.setstate(self._python)
        np.random.set_state(self._numpy)  # noqa: NPY002

    def _call(self, arguments: list[Any]) -> Any:
        for variable, value in self.state:
            if all(variable is not slot.variable for slot in self.slots):
                variable.assign(value)
        if self.reseeds:
            random.setstate(self._python)
            np.random.set_state(self._numpy)  # noqa: NPY002
            tf.random.set_seed(20)
        result = self.fn(*arguments)
        if result is None:
            raise TypeError(say("returned none"))
        return result

    def _arrange(self, place: Array) -> tuple[list[Any], list[Any]]:
        """Arguments for a call at `place`, variables put in place, and the sources in the order of the slots."""
        sources: list[Any] = []
        for slot in self.slots:
            with np.errstate(over="ignore"):
                value = place[slot.span].astype(slot.array.dtype).reshape(slot.array.shape)
            if slot.variable is not None:
                slot.variable.assign(value)
                sources.append(slot.variable)
            else:
                sources.append(tf.constant(value))
        return [_put_together(value, sources, self) for value in self._inputs], sources

    def _take_apart(self, value: Any, name: str) -> Any:
        """Replace each float leaf of an argument by a `_Hole` and give it a slot; everything else stays."""
        if isinstance(value, keras.Variable | tf.Variable):
            return self._add_variable(value)
        if isinstance(value, list | tuple) and not _is_numbers(value):
            items = [self._take_apart(item, f"{name}[{i}]") for i, item in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {key: self._take_apart(item, f"{name}[{key!r}]") for key, item in value.items()}
        if isinstance(value, complex | np.complexfloating):
            raise TypeError(say("complex", name=name))
        if not isinstance(value, tf.Tensor | np.ndarray | np.floating | float | list | tuple):
            return value
        array = np.asarray(value if isinstance(value, tf.Tensor | np.ndarray | np.generic) else tf.constant(value))
        if np.issubdtype(array.dtype, np.complexfloating):
            raise TypeError(say("complex", name=name))
        if not is_float(array.dtype) or not array.size:
            return value
        return self._add(name, array, None)

    def _add_variable(self, variable: Any) -> Any:
        raw = variable.value if isinstance(variable, keras.Variable) else variable
        if isinstance(variable, keras.Variable):
            name = variable.path
        elif isinstance(raw, tf.Variable):
            name = raw.name.split(":")[0]
        else:
            raise TypeError(
                f"gradcheck: variables= takes variables, not {type(variable).__name__}: pass it as an input."
            )
        if raw.dtype.is_complex:
            raise TypeError(say("complex", name=name))
        if not raw.dtype.is_floating or not int(np.prod(raw.shape)):
            return variable
        if all(raw is not slot.variable for slot in self.slots):
            self._add(name, raw.numpy(), raw)
        return variable

    def _add(self, name: str, array: NDArray, variable: tf.Variable | None) -> _Hole:
        start = self.slots[-1].stop if self.slots else 0
        self.slots.append(Slot(name, start, array.copy(), variable))
        return _Hole(len(self.slots) - 1)

    def _restore_changed(self, before: list[tuple[tf.Variable, NDArray]]) -> list[tuple[tf.Variable, NDArray]]:
        changed = []
        for variable, value in before:
            now = _numpy_or_none(variable)
            if now is not None and not _equal(now, value):
                changed.append((variable, value))
        for variable, value in changed:
            variable.assign(value)
        return changed


def machine_epsilon(dtype: Any) -> float:
    """The distance from 1 to the next larger number, for float16, bfloat16, float32 and float64."""
    return float(tf.experimental.numpy.finfo(dtype).eps) if dtype != tf.bfloat16.as_numpy_dtype else 2.0**-7


def is_float(dtype: Any) -> bool:
    """True for the floating dtypes of TensorFlow, bfloat16 among them."""
    return tf.as_dtype(dtype).is_floating if dtype.kind not in "OUSVM" or dtype == tf.bfloat16.as_numpy_dtype else False


def _is_numbers(value: Any) -> bool:
    """True for a list or tuple, nested or not, of plain numbers, at least one of them a float."""
    leaves = list(_leaves(value))
    return all(isinstance(x, int | float | np.generic) for x in leaves) and any(
        isinstance(x, float | np.floating) for x in leaves
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _put_together(value: Any, sources: list[Any], program: Program) -> Any:
    if isinstance(value, _Hole):
        return sources[value.number]
    if isinstance(value, list | tuple):
        items = [_put_together(item, sources, program) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _put_together(item, sources, program) for key, item in value.items()}
    return value


def _argument_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names that the function gives its arguments; ``input 0`` and so on where it gives none."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    names = plain[:count]
    for extra in range(count - len(names)):
        names.append(f"{rest}[{extra}]" if rest else f"input {len(names)}")
    return names


def _leaf_tensors(result: Any) -> list[tf.Tensor]:
    leaves = [leaf for leaf in tf.nest.flatten(result, expand_composites=True) if leaf is not None]
    tensors = [tf.convert_to_tensor(leaf) for leaf in leaves]
    for tensor in tensors:
        if tensor.dtype.is_complex:
            raise TypeError(say("complex output"))
    return tensors


def _floats(result: Any) -> list[tf.Tensor]:
    return [tensor for tensor in _leaf_tensors(result) if tensor.dtype.is_floating]


def _read(result: Any) -> Outputs:
    tensors = _leaf_tensors(result)
    floats = [tensor for tensor in tensors if tensor.dtype.is_floating]
    arrays = [np.asarray(tensor).ravel() for tensor in floats]
    return Outputs(
        values=np.concatenate([a.astype(np.float64) for a in arrays]) if arrays else np.zeros(0),
        epsilon=np.concatenate([np.full(a.size, machine_epsilon(a.dtype)) for a in arrays]) if arrays else np.zeros(0),
        others=tuple(np.asarray(tensor) for tensor in tensors if not tensor.dtype.is_floating),
        shapes=tuple(tuple(tensor.shape) for tensor in floats),
    )


def _numpy_or_none(variable: tf.Variable) -> NDArray | None:
    """The value, or None where there is none to be had (a variable of a graph, or not yet initialised)."""
    try:
        return np.array(variable.numpy())
    except Exception:
        return None


def _subclasses(kind: type) -> set[type]:
    """A class and all that derive from it; asking each object with isinstance would wake lazy proxies."""
    found = {kind}
    children: list[type] = kind.__subclasses__()
    for child in children:
        found |= _subclasses(child)
    return found


def _equal(one: NDArray, other: NDArray) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def _every_variable() -> list[tuple[tf.Variable, NDArray]]:
    """Every variable alive in this process, with a copy of its value: whatever the function changes is among them."""
    kinds = _subclasses(tf.Variable)
    alive = [thing for thing in gc.get_objects() if type(thing) in kinds]
    return _values_of(alive)


def _values_of(variables: Iterable[tf.Variable]) -> list[tuple[tf.Variable, NDArray]]:
    """The variables that have values, with copies of them, as far as the limit on memory allows."""
    sized = [
        (int(np.prod(variable.shape)) * variable.dtype.size, variable)
        for variable in variables
        if variable.shape.is_fully_defined() and variable.dtype.size
    ]
    kept, total = [], 0
    for size, variable in sorted(sized, key=lambda pair: pair[0]):
        total += size
        if total > MOST_STATE_BYTES:
            break
        value = _numpy_or_none(variable)
        if value is not None:
            kept.append((variable, value))
    return kept

"""What an answer did, as plain arrays and text: probes are run here and nothing else is.

Everything that touches a learner's objects is in this module. What leaves it holds no object of theirs, so the
verdict can be reached in another process.
"""

import random
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np

from gradlab.exercises.exercise import Exercise
from gradlab.exercises.standin import StandInUsed, grading

UNCHANGED = "inputs unchanged"
MOST_ELEMENTS = 10_000_000
DEEPEST = 8
MOST_LEAVES = 10_000
ANSI = re.compile(r"\x1b\[[0-9;]*m")  # Keras colours its messages

Kind = Literal["array", "text", "none", "exception", "refused"]
End = Literal["finished", "not attempted", "raised", "unusable", "stand-in"]


@dataclass(frozen=True)
class Leaf:
    """One plain thing that an answer returned: an array, or a text (for an exception or a refusal: its kind)."""

    kind: Kind
    array: np.ndarray | None = None
    text: str = ""
    dtype: str = ""


Leaves = Mapping[str, Leaf]


@dataclass(frozen=True)
class Call:
    """One call of the answer by the probe: its inputs as text, their number of elements, and what it returned."""

    inputs: str
    size: int
    result: Leaves


@dataclass(frozen=True)
class Trouble:
    """An exception that ended the probe: its class, its text, and the learner's line where it arose."""

    kind: str
    text: str
    line: int | None = None
    code: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a probe found: named leaves by part, the calls, and how it ended.

    ``unusable`` means that the answer returned, and that the probe could not go on with what it returned.
    """

    end: End
    parts: Mapping[str, Leaves] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    trouble: Trouble | None = None


def collect(exercise: Exercise, answer: Callable[..., Any], seed: int, quiet: bool = False) -> Evidence:
    """Run the exercise's probe on an answer, with inputs drawn from ``seed``.

    Python's and NumPy's global generators are seeded and put back afterwards; TensorFlow's is seeded. ``quiet``
    silences warnings (for answers that aren't the learner's).
    """
    recorder = Recorder(answer, exercise.name, seed)
    subject = answer if isinstance(answer, type) else recorder
    with _seeded(seed), _silence(quiet), grading(exercise.name):
        try:
            found = exercise.probe(subject, np.random.default_rng(seed))
            parts = {str(part): flatten(value) for part, value in found.items()}
        except StandInUsed:
            return Evidence("stand-in")
        except (Exception, SystemExit) as error:
            if recorder.blank or is_blank(error, exercise.name):
                return Evidence("not attempted")
            if recorder.stand_in:
                return Evidence("stand-in")
            trouble = _trouble(error, exercise)
            end: End = "raised" if recorder.raised or trouble.line is not None else "unusable"
            return Evidence(end, calls=tuple(recorder.calls), trouble=trouble)
    if recorder.stand_in:
        return Evidence("stand-in")
    if recorder.blank or any(_holds_blank(leaves, exercise.name) for leaves in parts.values()):
        return Evidence("not attempted")
    parts[UNCHANGED] = {"": Leaf("text", text=", ".join(recorder.changed) or "yes")}
    return Evidence("finished", parts, tuple(recorder.calls))


class Recorder:
    """Stands around an answer while a probe calls it.

    The answer gets copies of arrays and a generator of its own. What it changed in place, what it was given and what
    it returned are kept.
    """

    def __init__(self, answer: Callable[..., Any], name: str, seed: int) -> None:
        self.answer = answer
        self.name = name
        self.__name__ = name
        self.calls: list[Call] = []
        self.changed: list[str] = []
        self.blank = False
        self.raised = False
        self.stand_in = False
        self._seed = seed

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the answer on copies; keep the inputs, the result and which inputs it changed."""
        named = _named(self.answer, args, kwargs)
        inputs, size = describe(named), sum(_elements(value) for _, value in named)
        given_args = tuple(self._handed(value) for value in args)
        given_kwargs = {key: self._handed(value) for key, value in kwargs.items()}
        try:
            result = self.answer(*given_args, **given_kwargs)
        except StandInUsed:
            self.stand_in = True
            raise
        except (Exception, SystemExit) as error:
            self.raised = True
            self.blank = self.blank or is_blank(error, self.name)
            raise
        given = [*given_args, *given_kwargs.values()]
        for (name, before), after in zip(named, given, strict=False):
            if not _same_plain(before, after) and name not in self.changed:
                self.changed.append(name)
        self.calls.append(Call(inputs, size, flatten(result)))
        return result

    def _handed(self, value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            return np.random.default_rng([self._seed, len(self.calls)])
        return _copy(value)


def flatten(value: Any) -> dict[str, Leaf]:
    """Turn what an answer returned into named leaves: ``""`` for a single thing, ``"0"``, ``"0.w"`` for nested ones."""
    leaves: dict[str, Leaf] = {}
    _flatten(value, "", 0, leaves)
    return leaves


def _flatten(value: Any, path: str, depth: int, leaves: dict[str, Leaf]) -> None:
    if depth > DEEPEST or len(leaves) > MOST_LEAVES:
        leaves[path] = Leaf("refused", text="nested too deep")
        return
    kind = type(value)
    if issubclass(kind, dict):
        items: list[tuple[str, Any]] = [
            (str(key), dict.__getitem__(value, key)) for key in dict.keys(value) if type(key) in (str, int)
        ]
    elif issubclass(kind, list | tuple) and not _is_numbers(value):
        items = [(str(i), item) for i, item in enumerate(_items(value))]
    else:
        leaves[path] = _leaf(value)
        return
    if not items:
        leaves[path] = Leaf("text", text="nothing in it")
    for key, item in items[:MOST_LEAVES]:
        _flatten(item, f"{path}.{key}" if path else key, depth + 1, leaves)


def _is_numbers(value: Any, depth: int = 0) -> bool:
    """Whether a list or tuple holds plain numbers only, nested evenly: then it is an array written as a list."""
    flat = _items(value)
    if not flat:
        return True
    if all(type(item) in (int, float, bool) for item in flat):
        return True
    if depth > DEEPEST:
        return False
    if all(type(item) in (list, tuple) and _is_numbers(item, depth + 1) for item in flat):
        return len({_list_shape(item) for item in flat}) == 1
    return False


def _items(value: Any) -> tuple[Any, ...]:
    """The items of a list or tuple, also where a subclass iterates in a way of its own."""
    return tuple(list.__iter__(value) if issubclass(type(value), list) else tuple.__iter__(value))


def _list_shape(value: Any) -> tuple[int, ...]:
    if type(value) not in (list, tuple):
        return ()
    return (len(value), *(_list_shape(value[0]) if value else ()))


def _leaf(value: Any) -> Leaf:
    """One plain leaf; only types that are known to be plain are read, and everything else is refused by its type."""
    kind = type(value)
    if value is None:
        return Leaf("none", text="None")
    if issubclass(kind, str):
        return Leaf("text", text=str.__str__(value))
    if issubclass(kind, BaseException):
        return Leaf("exception", text=kind.__name__)
    if issubclass(kind, bool | int | float | complex | np.generic | np.ndarray | list | tuple):
        return _array(value)
    if _is_tensorflow(kind):
        return _tensor(value)
    return Leaf("refused", text=_plain_name(kind))


def _array(value: Any) -> Leaf:
    try:
        if isinstance(value, np.ndarray) and value.size > MOST_ELEMENTS:
            return Leaf("refused", text=f"array of {value.size:,} elements")
        if isinstance(value, list | tuple):
            value = list(_items(value))
        array = np.array(value, copy=True, subok=False)
    except Exception as error:
        return Leaf("refused", text=f"{_plain_name(type(value))} ({type(error).__name__})")
    dtype = array.dtype.name
    if dtype in ("bfloat16", "float8_e5m2", "float8_e4m3fn"):
        array = array.astype(np.float32)
    if array.dtype.kind not in "biufc":
        return Leaf("refused", text=f"array of {'objects' if array.dtype.kind == 'O' else dtype}")
    return Leaf("array", array=array, dtype=dtype)


def _is_tensorflow(kind: type) -> bool:
    return any(cls.__module__.split(".")[0] in ("tensorflow", "keras") for cls in kind.__mro__)


def _tensor(value: Any) -> Leaf:
    """A tensor or variable as an array; symbolic ones, layers and models have no value and are refused."""
    import keras
    import tensorflow as tf

    kind = type(value)
    try:
        if issubclass(kind, tf.IndexedSlices):
            value = tf.convert_to_tensor(value)
        if issubclass(kind, keras.Variable):
            value = value.value
        if isinstance(value, tf.Variable | tf.Tensor) and hasattr(value, "numpy"):
            if value.dtype == tf.string:
                return Leaf("refused", text="tensor of text")
            return _array(value.numpy())
    except Exception as error:
        return Leaf("refused", text=f"{_plain_name(kind)} ({type(error).__name__})")
    symbolic = issubclass(kind, tf.Tensor | keras.KerasTensor)
    return Leaf("refused", text="symbolic tensor" if symbolic else _plain_name(kind))


def _plain_name(kind: type) -> str:
    if issubclass(kind, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return "function"
    return str(kind.__name__)


def is_blank(error: BaseException, name: str) -> bool:
    """Whether an exception is the stub's own, also where TensorFlow or Keras raised another one in its place."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        text = _text_of(found)
        if isinstance(found, NotImplementedError) and (name in text or not text):
            return True
        if "NotImplementedError" in text and name in text:
            return True
        pending += [found.__cause__, found.__context__]
    return False


def _holds_blank(leaves: Leaves, name: str) -> bool:
    return any(leaf.kind == "exception" and leaf.text == "NotImplementedError" for leaf in leaves.values())


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _trouble(error: BaseException, exercise: Exercise) -> Trouble:
    """Name the exception and the last line of the answer's own code that it passed."""
    text = " ".join(ANSI.sub("", _text_of(error)).split())
    home = getattr(sys.modules.get(exercise.probe.__module__), "__file__", None)
    line, code = None, ""
    for frame in traceback.extract_tb(error.__traceback__):
        installed = "site-packages" in frame.filename or "gradlab" in frame.filename or frame.filename == home
        if not installed and frame.lineno is not None and "/lib/python" not in frame.filename:
            line, code = frame.lineno, frame.line or ""
    return Trouble(type(error).__name__, text[:300], line, code.strip()[:120])


def describe(named: list[tuple[str, Any]]) -> str:
    """The inputs of a call as one short text."""
    return ", ".join(f"{name} = {_short(value)}" for name, value in named)


def _short(value: Any) -> str:
    if isinstance(value, np.random.Generator):
        return "a generator"
    leaves = flatten(value)
    if set(leaves) == {""}:
        leaf = leaves[""]
        if leaf.kind == "array" and leaf.array is not None:
            return array_text(leaf.array)
        if leaf.kind == "refused":
            return str(getattr(value, "__name__", None) or leaf.text)
        return leaf.text
    items = ", ".join(array_text(leaf.array) if leaf.array is not None else leaf.text for leaf in leaves.values())
    return f"[{items}]"


def array_text(array: np.ndarray, most: int = 12) -> str:
    """A small array as one line; a large one as its shape and first numbers."""
    if array.size > most:
        first = ", ".join(f"{x:.5g}" for x in array.ravel()[:3].tolist())
        return f"array of shape {array.shape} starting {first}, ..."
    numbers: Any = {kind: lambda x: f"{x:.5g}" for kind in ("float_kind", "complex_kind")}
    text = np.array2string(array, separator=", ", max_line_width=10_000, formatter=numbers)
    return " ".join(text.split())


def _named(answer: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The arguments of a call with the names of their parameters, positional ones first."""
    try:
        kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in signature(answer).parameters.values() if p.kind in kinds]
    except (TypeError, ValueError):
        names = []
    names += [f"argument {i + 1}" for i in range(len(names), len(args))]
    return [*zip(names, args, strict=False), *kwargs.items()]


def _copy(value: Any) -> Any:
    """A copy of arrays and of the lists and dicts that hold them; anything else is handed on as it is."""
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_copy(item) for item in value)
    if type(value) is dict:
        return {key: _copy(item) for key, item in value.items()}
    return value


def _same_plain(before: Any, after: Any) -> bool:
    """Whether an array, list or dict handed to the answer is as it was; other things are allowed to change."""
    if type(before) is np.ndarray:
        if type(after) is not np.ndarray or before.shape != after.shape or before.dtype != after.dtype:
            return False
        return before.tobytes() == after.tobytes()
    if type(before) in (list, tuple):
        return len(before) == len(after) and all(_same_plain(b, a) for b, a in zip(before, after, strict=True))
    if type(before) is dict:
        return before.keys() == after.keys() and all(_same_plain(before[k], after[k]) for k in before)
    if type(before) in (int, float, str, bool):
        return type(after) is type(before) and (after == before or after != after)
    return True


def _elements(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(_elements(item) for item in value)
    if isinstance(value, dict):
        return sum(_elements(item) for item in value.values())
    size = getattr(value, "size", None)
    if isinstance(size, int | np.integer):
        return int(size)
    shape = getattr(value, "shape", None)
    try:
        return int(np.prod([int(n) for n in shape])) if shape is not None else 1
    except (TypeError, ValueError):
        return 1


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed every global generator; put Python's and NumPy's back afterwards (TensorFlow's can't be read)."""
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if "tensorflow" in sys.modules:
        import tensorflow as tf

        tf.random.set_seed(seed)
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002


@contextmanager
def _silence(quiet: bool) -> Iterator[None]:
    if not quiet:
        yield
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield

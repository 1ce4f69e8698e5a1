import ast

import pytest

from gradlab.course.names import Home, bindings, free_names, is_builtin

NOWHERE = Home()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(x): return np.sum(x)", {"np"}),
        ("def f(x, y=EPS): return x", {"EPS"}),
        ("def f(x: tf.Tensor) -> np.ndarray: return x", {"tf", "np"}),
        ("@tf.function\ndef f(x): return x", {"tf"}),
        ("def f(*args: A, **kwargs: B): return args", {"A", "B"}),
        ("def f(x):\n    def g(y): return x + y + z\n    return g(x)", {"z"}),
        ("def f(n): return f(n - 1)", set()),
        ("def f(xs): return [x * scale for x in xs if x > low]", {"scale", "low"}),
        ("def f(xs): return {k: v for k, v in xs}", set()),
        ("def f(xs=[i for i in items]): return xs", {"items"}),
        ("def f(x):\n    import numpy as np\n    return np.sum(x)", set()),
        ("def f(x):\n    global count\n    count = x", {"count"}),
        ("def f(x):\n    if x:\n        y = 1\n    return y", set()),
        ("def f(x): return (lambda y: y + offset)(x)", {"offset"}),
        ("def f(x):\n    if (n := len(x)) > 1:\n        return n", {"len"}),
        (
            "def f(x):\n    try:\n        return x\n    except ValueError as e:\n        raise KeyError from e",
            {"ValueError", "KeyError"},
        ),
        (
            "class A(keras.layers.Layer):\n    rate = RATE\n    def call(self, x): return super().call(x) * rate",
            {"keras", "RATE", "super", "rate"},
        ),
        ("class A:\n    size = 3\n    def n(self): return size", {"size"}),
        ("class A:\n    size = 3\n    double = size * 2", set()),
        ("class A(metaclass=M): pass", {"M"}),
        ("class A:\n    def me(self) -> 'A': return __class__", set()),
        ("class A:\n    def me(self): return A()", set()),
        ("def f(x):\n    match x:\n        case Point(a=b): return b", {"Point"}),
        ("async def f(x): return await g(x)", {"g"}),
        ("def f(x):\n    x: Annotated = 1\n    return x", {"Annotated"}),
        ("def f(np): return np", set()),
        ("def f(x): return x.np.tf", set()),
        ("def f(x):\n    def g():\n        nonlocal x\n        x = y\n    return g", {"y"}),
    ],
)
def test_the_names_that_a_definition_takes_from_outside(source, names):
    assert set(free_names(source)) == names


def test_a_free_name_comes_with_its_first_line():
    assert free_names("def f(x):\n    y = np.sum(x)\n    return np.abs(y)") == {"np": 2}


def test_builtins_are_told_apart_from_a_modules_own_names():
    assert is_builtin("len")
    assert is_builtin("ValueError")
    assert not is_builtin("__name__")
    assert not is_builtin("np")


def keys(source, home=NOWHERE):
    return {binding.name: binding.key for binding in bindings(ast.parse(source), source, home, before={})}


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("np", "import numpy as np", "import numpy as np"),
        ("layers", "from keras import layers", "import keras.layers as layers"),
        ("layers", "from keras import layers", "import keras\nlayers = keras.layers"),
        ("Layer", "import keras as k\nLayer = k.layers.Layer", "from keras.layers import Layer"),
        ("EPS", "EPS = 1e-6", "EPS = 0.000001"),
        ("SIZE", "SIZE = (3, -4)", "SIZE: tuple = (3, -4)"),
    ],
)
def test_two_ways_to_bind_the_same_object(name, one, other):
    assert keys(one)[name] is not None
    assert keys(one)[name] == keys(other)[name]


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        ("import numpy as np", "import tensorflow.experimental.numpy as np", "np"),
        ("from math import sqrt", "from numpy import sqrt", "sqrt"),
        ("import keras", "from tensorflow import keras", "keras"),
        ("EPS = 1e-6", "EPS = 1e-7", "EPS"),
        ("ONE = 1", "ONE = True", "ONE"),
        ("ONE = 1", "ONE = 1.0", "ONE"),
    ],
)
def test_two_objects_of_one_name(one, other, name):
    assert keys(one)[name] != keys(other)[name]


@pytest.mark.parametrize(
    "source",
    [
        "if ready:\n    import numpy as np",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None",
        "np = make()",
        "np: Any = make()",
        "np = [1, 2]",
        "for np in range(3): pass",
        "with open(p) as np: pass",
        "def np(): pass",
        "class np: pass",
        "(np := 3)",
        "[np := i for i in range(3)]",
        "np, other = 1, 2",
        "np += 1",
        "del np",
        "def change():\n    global np\n    np = 3",
        "match x:\n    case [np]: pass",
        "try: pass\nexcept E as np: pass",
    ],
)
def test_what_only_running_would_tell_has_no_key(source):
    found = keys(source)
    assert "np" in found
    assert found["np"] is None


def test_relative_imports_and_handed_on_names_are_resolved():
    home = Home("gradlab.exercises.lesson_02.descend", {"gradlab.check": "gradlab.exercises.notebook.check"})
    assert keys("from .line import line", home) == {"line": "gradlab.exercises.lesson_02.line.line"}
    assert keys("from ..exercise import Exercise", home) == {"Exercise": "gradlab.exercises.exercise.Exercise"}
    assert keys("from . import line", home) == {"line": "gradlab.exercises.lesson_02.line"}
    assert keys("from gradlab import check as c", home) == {"c": "gradlab.exercises.notebook.check"}


def test_a_local_name_in_a_cells_function_binds_nothing_outside():
    assert keys("def f():\n    np = 3\n    return np") == {"f": None}
    assert keys("print([np for np in range(3)])") == {}

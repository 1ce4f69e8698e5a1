import ast
import subprocess
import sys
from textwrap import dedent

import pytest

from gradlab.course.answer import read_answer
from gradlab.course.errors import CourseError
from gradlab.course.names import Home


def answer(tmp_path, text, name="solve"):
    path = tmp_path / f"{name}.py"
    path.write_text(dedent(text), encoding="utf-8")
    return read_answer(path, Home(f"exercises.lesson_00.{name}"), stub_comment="your code in place of this line")


FUNCTION = '''\
"""A file."""

import numpy as np
import tensorflow as tf

STEP = 1e-3


# not part of the answer
@tf.custom_gradient
@tf.function(
    jit_compile=True,
)
def solve(
    x: np.ndarray,  # a comment that stays
    *,
    step: float = STEP,
    table={"a": lambda v: v[1:2]},
) -> dict[str, np.ndarray]:
    # a comment that gives the answer away
    """Return é.

    Example: ``solve(1)`` is 2.
        indented
    """
    # why
    y = x  +  step

    return y
    # the end


def probe(answer, rng):
    return {}
'''


def test_the_answer_is_cut_as_it_is_written_with_its_decorators_and_comments(tmp_path):
    cut = answer(tmp_path, FUNCTION)
    start, end = FUNCTION.index("@tf.custom"), FUNCTION.index("\n\n\ndef probe")
    assert cut.source == FUNCTION[start:end] + "\n"


def test_the_stub_is_signature_docstring_and_an_empty_body(tmp_path):
    assert answer(tmp_path, FUNCTION).stub == dedent('''\
        def solve(
            x: np.ndarray,  # a comment that stays
            *,
            step: float = STEP,
            table={"a": lambda v: v[1:2]},
        ) -> dict[str, np.ndarray]:
            """Return é.

            Example: ``solve(1)`` is 2.
                indented
            """
            raise NotImplementedError("solve")  # your code in place of this line
        ''')


def test_every_name_that_the_answer_needs_is_known_with_its_origin_and_line(tmp_path):
    cut = answer(tmp_path, FUNCTION)
    assert {name: binding.key for name, binding in cut.needs.items() if binding} == {
        "np": "numpy",
        "tf": "tensorflow",
        "STEP": "= 0.001",
    }
    assert FUNCTION.splitlines()[cut.lines["STEP"] - 1].strip() == "step: float = STEP,"
    assert {"dict", "str", "float", "NotImplementedError"} == cut.builtins


CLASS = '''\
import keras


@keras.saving.register_keras_serializable()
class Solve(keras.layers.Layer):
    """A layer.

    It learns.
    """

    rate = 0.5

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    @staticmethod
    def scale(x):
        """Scale x."""
        return x

    @property
    def size(self):
        """The size."""
        return self.units

    @size.setter
    def size(self, value):
        self.units = value

    @keras.something
    def call(self, x):
        """Apply it."""

        def inner(y):
            return y

        return inner(x)
'''


def test_a_class_stub_keeps_its_line_and_the_signature_and_docstring_of_each_method(tmp_path):
    blank = 'raise NotImplementedError("Solve")  # your code in place of this line'
    assert answer(tmp_path, CLASS, "Solve").stub == dedent(f'''\
        class Solve(keras.layers.Layer):
            """A layer.

            It learns.
            """

            def __init__(self, units, **kwargs):
                {blank}

            @staticmethod
            def scale(x):
                """Scale x."""
                {blank}

            @property
            def size(self):
                """The size."""
                {blank}

            @size.setter
            def size(self, value):
                {blank}

            def call(self, x):
                """Apply it."""
                {blank}
        ''')


def test_a_class_without_methods_can_be_defined_and_raises_when_it_is_used(tmp_path):
    stub = answer(tmp_path, 'class solve:\n    """A thing."""\n\n    size = 3\n').stub
    names = {}
    exec(stub, names)
    with pytest.raises(NotImplementedError, match="solve"):
        names["solve"](1, a=2)


@pytest.mark.parametrize(
    "text",
    [
        FUNCTION,
        'def solve(x):\n    """One line."""\n    return x\n',
        "def solve(x):\n    'Single quotes.'; y = x\n    return y\n",
        'def solve(x): "Same line."; return x\n',
        'async def solve(x):\n    r"""Raw \\d."""\n    return x\n',
        'def solve(x) -> "a: b":  # a colon in a text and a comment: here\n    """Doc."""\n    return x\n',
        'def solve(x):\n\t"""Tabs."""\n\treturn x\n',
        'def solve(x=":"):\n    """Doc.\n    """\n',
        'def solve(x):\n    """Doc."""  # after it\n    return x\n',
    ],
)
def test_a_stub_can_be_defined_and_raises_the_exercises_name(tmp_path, text):
    cut = answer(tmp_path, text)
    (node,) = ast.parse(cut.stub).body
    (original,) = ast.parse(cut.source).body
    assert ast.get_docstring(node) == ast.get_docstring(original)
    assert ast.dump(node.args) == ast.dump(original.args)
    assert node.decorator_list == []
    assert ast.unparse(node.body[-1]) == "raise NotImplementedError('solve')"
    assert len(node.body) == 2


def test_a_formatted_answer_gives_a_formatted_stub(tmp_path):
    for name, text in {"solve": FUNCTION, "Solve": CLASS}.items():
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--line-length=120", path], check=True)
        stub = answer(tmp_path, path.read_text(), name).stub
        formatted = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--line-length=120", "-"],
            input=stub,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert stub == formatted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def solve(x:\n    return x\n", "line 1"),
        ("def other(x):\n    '''Doc.'''\n", "defines solve 0 times"),
        ("solve = lambda x: x\n", "defines solve 0 times"),
        ("if True:\n    def solve(x):\n        '''Doc.'''\n", "defines solve 0 times"),
        ("def solve(x):\n    '''Doc.'''\n\ndef solve(x):\n    '''Doc.'''\n", "defines solve 2 times"),
        ("def solve(x):\n    return x\n", "no docstring"),
        ("def solve(x): 'Doc.'; return x\nx = 3; y = 4\ndef f(): pass\n", None),
    ],
)
def test_a_file_that_holds_no_usable_answer_is_refused_with_its_name(tmp_path, text, reason):
    if reason is None:
        answer(tmp_path, text)
        return
    with pytest.raises(CourseError, match="solve") as caught:
        answer(tmp_path, text)
    assert reason in str(caught.value)


def test_a_name_that_the_file_binds_in_two_ways_has_no_key(tmp_path):
    cut = answer(tmp_path, "import numpy as np\nnp = 3\n\ndef solve(x):\n    '''Doc.'''\n    return np\n")
    assert cut.needs["np"].key is None


def test_a_helper_of_the_file_is_known_by_the_files_own_path(tmp_path):
    text = "def helper(x):\n    return x\n\ndef solve(x):\n    '''Doc.'''\n    return helper(x)\n"
    assert answer(tmp_path, text).needs["helper"].key == "exercises.lesson_00.solve.helper"

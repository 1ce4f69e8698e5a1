"""What `diagnose` and `xray` refuse to take a gradient towards, each under its own name."""

import pytest
import tensorflow as tf

from gradlab import diagnose, xray


@pytest.mark.parametrize("asker", [diagnose, xray])
@pytest.mark.parametrize(
    ("variables", "error", "words"),
    [
        (None, ValueError, r"needs the variables .* {name}\(fn, \[w, b\]\)"),
        ([], ValueError, "needs the variables"),
        ([2.0], TypeError, r"variables\[0\] is a float"),
        ([tf.constant(1.0), "w"], TypeError, r"variables\[1\] is a str"),
    ],
)
def test_what_has_no_gradient_is_refused_in_words(asker, variables, error, words):
    with pytest.raises(error, match=words.format(name=asker.__name__)):
        asker(lambda: tf.constant(1.0), variables)


@pytest.mark.parametrize("asker", [diagnose, xray])
def test_a_symbol_of_a_graph_is_refused(asker):
    @tf.function
    def traced(x):
        return asker(lambda: x * 2.0, [x])

    with pytest.raises(TypeError, match=f"call {asker.__name__} outside of tf.function"):
        traced(tf.constant(1.0))

"""What a gradient may be asked for: variables and tensors with values; anything else is refused in words."""

from typing import Any

import tensorflow as tf

from gradlab.instruments.doctor import ground


def sources_of(variables: Any, asker: str) -> list[Any]:
    """The variables one by one.

    Args:
        variables: a variable, a tensor, or any structure of them.
        asker: the name of the function that was called, for the message.

    Raises:
        ValueError: there are none.
        TypeError: something in the list has no gradient to speak of.
    """
    flat = [] if variables is None else list(tf.nest.flatten(variables))
    if not flat:
        raise ValueError(
            f"{asker} needs the variables (or tensors) whose gradients are in question: {asker}(fn, [w, b])"
        )
    for place, source in enumerate(flat):
        if not (hasattr(source, "handle") or tf.is_tensor(source)):
            raise TypeError(
                f"variables[{place}] is a {type(source).__name__}; a gradient is taken with respect to a tf.Variable, "
                "a Keras weight or a tensor that the function uses"
            )
        if not (hasattr(source, "handle") or ground.is_eager(source)):
            raise TypeError(
                f"variables[{place}] is a symbol of a graph, without a value; call {asker} outside of tf.function"
            )
    return flat

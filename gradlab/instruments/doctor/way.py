"""A way through the program, as steps for people."""

from gradlab.instruments.doctor.finding import Step
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.records import Node


def steps(nodes: list[Node]) -> tuple[Step, ...]:
    """A way through the program as steps; several operations of one line are one step each, repeats dropped."""
    found: list[Step] = []
    for node in nodes:
        place = innermost(node.stack)
        step = Step(node.op, place.file if place else None, place.line if place else None, place.code if place else "")
        if not found or found[-1] != step:
            found.append(step)
    return tuple(found)

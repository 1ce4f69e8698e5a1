"""Stand-ins: the course's own answer in place of one that isn't right yet, marked so that it is never graded."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from gradlab.exercises.texts import say

MARK = "gradlab_stand_in_for"
_graded: ContextVar[str | None] = ContextVar("graded", default=None)


class StandInUsed(Exception):
    """A stand-in was called while an answer of the same name was being graded."""


@contextmanager
def grading(name: str) -> Iterator[None]:
    """While an answer is graded, its own stand-in refuses to work for it."""
    token = _graded.set(name)
    try:
        yield
    finally:
        _graded.reset(token)


class StandIn:
    """A function of the course, in place of the learner's; prints as what it is."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        functools.update_wrapper(self, answer)
        setattr(self, MARK, answer.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do what the course's function does."""
        _refuse_while_graded(getattr(self, MARK))
        return self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return say("stand_in_repr", name=getattr(self, MARK))


def stand_in(answer: Callable[..., Any]) -> Any:
    """The marked stand-in for a reference answer: a callable for a function, a subclass for a class."""
    if not isinstance(answer, type):
        return StandIn(answer)
    name = answer.__name__

    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_while_graded(name)
        make: Any = answer.__new__
        return make(cls) if make is object.__new__ else make(cls, *args, **kwargs)

    printed = type("StandInType", (type(answer),), {"__repr__": lambda cls: say("stand_in_repr", name=name)})
    body = {"__new__": __new__, "__module__": answer.__module__, "__doc__": answer.__doc__, MARK: name}
    return printed(name, (answer,), body)


def stands_in_for(thing: Any) -> str | None:
    """The name of the exercise that a thing stands in for, or None if it is no stand-in."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    mark = getattr(thing, MARK, None) if isinstance(thing, StandIn | type) else None
    if isinstance(thing, type) and MARK not in vars(thing):
        return None
    return mark if isinstance(mark, str) else None


def _refuse_while_graded(name: str) -> None:
    if _graded.get() == name:
        raise StandInUsed(name)

"""A course on the backward pass in TensorFlow, and instruments for looking at gradients.

The names below are all that a lesson imports. Each is loaded when it is first used, so that
``import gradlab`` costs next to nothing and never imports TensorFlow by itself.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "gradcheck": "gradlab.instruments.gradcheck",
    "GradCheck": "gradlab.instruments.gradcheck",
    "diagnose": "gradlab.instruments.doctor.visit",
    "doctor": "gradlab.instruments.doctor.visit",
    "Diagnosis": "gradlab.instruments.doctor.examine",
    "xray": "gradlab.instruments.xray",
    "XRay": "gradlab.instruments.xray",
    "GradientMonitor": "gradlab.instruments.monitor",
    "propagate": "gradlab.instruments.propagation",
    "Propagation": "gradlab.instruments.propagation",
    "predict": "gradlab.exercises.notebook",
    "check": "gradlab.exercises.notebook",
    "hint": "gradlab.exercises.notebook",
    "solution": "gradlab.exercises.notebook",
    "progress": "gradlab.exercises.notebook",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name, when the name is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'gradlab' has no attribute {name!r}; its names are: {', '.join(sorted(_HOME))}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted([*_HOME, "__version__"])


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the cell magic ``%%doctor``; ``%load_ext gradlab`` calls this."""
    from gradlab.instruments.doctor.magic import register

    register(shell)

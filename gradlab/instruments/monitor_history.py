"""What a monitor kept: per variable and step the norm of the gradient and what else was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class History:
    """The kept steps of one training run.

    Attributes:
        names: the variables' paths, in the order in which the optimizer gets them.
        shapes: their shapes.
        steps: the numbers of the kept steps, from 0: (steps,).
        norm: the gradients' norms: (steps, variables). NaN where a variable had no gradient.
        largest: the largest entry of each gradient, without its sign.
        zeros: the share of a gradient's entries that are exactly zero, 0 to 1.
        nonfinite: the share of entries that are NaN or infinite, 0 to 1.
        update_ratio: the norm of the update over the norm of the weights before it.

    All but the norm are NaN at steps at which they were not measured.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    steps: np.ndarray
    norm: np.ndarray
    largest: np.ndarray
    zeros: np.ndarray
    nonfinite: np.ndarray
    update_ratio: np.ndarray

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def rms(self) -> np.ndarray:
        """The root mean square of each gradient's entries: norms that can be compared between layers of any size."""
        sizes = np.array([max(int(np.prod(shape)), 1) for shape in self.shapes], dtype=float)
        return np.asarray(self.norm / np.sqrt(sizes))

    @property
    def global_norm(self) -> np.ndarray:
        """The norm of all gradients together: (steps,)."""
        return np.asarray(np.sqrt(np.nansum(self.norm**2, axis=1)) + self._broken())

    def _broken(self) -> np.ndarray:
        """NaN at steps where some gradient's norm is not a number although it was measured elsewhere."""
        measured = np.isfinite(self.norm).any(axis=0)
        return np.where((~np.isfinite(self.norm) & measured).any(axis=1), np.nan, 0.0)

    @property
    def kernels(self) -> list[int]:
        """The places of weights with at least two dimensions: those whose scales tell how layers fare."""
        return [place for place, shape in enumerate(self.shapes) if len(shape) >= 2]


def joined(histories: list[History]) -> History:
    """Several optimizers' histories side by side; the shorter ones are filled up with NaN."""
    if len(histories) == 1:
        return histories[0]
    longest = max(histories, key=len)

    def beside(name: str) -> np.ndarray:
        columns = []
        for history in histories:
            values = getattr(history, name)
            filled = np.full((len(longest), values.shape[1]), np.nan)
            filled[: len(values)] = values
            columns.append(filled)
        return np.concatenate(columns, axis=1)

    return History(
        tuple(name for history in histories for name in history.names),
        tuple(shape for history in histories for shape in history.shapes),
        longest.steps,
        *(beside(name) for name in ("norm", "largest", "zeros", "nonfinite", "update_ratio")),
    )

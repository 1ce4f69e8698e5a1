"""The real handwritten digits that ship with scikit-learn: 1797 images of 8 by 8 pixels, no download.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository (1998);
the copy in `sklearn.datasets.load_digits` is its test set, written by 13 people. A pixel counts how many of its 16
points carried ink.
"""

from dataclasses import dataclass

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

SIDE = 8
CLASSES = 10
INK = 16.0
SCALES = ("0..1", "raw", "standardised")


@dataclass(frozen=True)
class Digits:
    """Digits to train on and digits to test with; inputs are float32, labels int32 from 0 to 9.

    ``x_train`` and ``x_test`` have shape (n, 64), or (n, 8, 8, 1) if they were asked for as images; ``y_train`` and
    ``y_test`` have shape (n,). The arrays can't be written to: copy one before changing it.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def load_digits(seed: int = 0, test_share: float = 0.2, flat: bool = True, scaled: str = "0..1") -> Digits:
    """Load the digits and split them, the same way each time for one seed.

    Args:
        seed: which split; also the order of the examples.
        test_share: part of the examples to test with, above 0 and below 1. Every digit keeps its share in both parts.
        flat: 64 numbers a digit, row by row; otherwise images of shape (8, 8, 1).
        scaled: ``"0..1"`` (share of ink in a pixel), ``"raw"`` (0 to 16), or ``"standardised"``: each pixel minus its
            mean, over its standard deviation, both of the training part; a pixel that never varies there becomes 0.

    Raises:
        ValueError: an unknown scale, or a share that leaves one part without a digit of each kind.
    """
    if scaled not in SCALES:
        raise ValueError(f"scaled is one of {', '.join(map(repr, SCALES))}, not {scaled!r}")
    if not 0 < test_share < 1:
        raise ValueError(f"test_share is above 0 and below 1, not {test_share!r}")
    ink, labels = datasets.load_digits(return_X_y=True)
    split = train_test_split(ink, labels, test_size=test_share, random_state=seed, stratify=labels)
    x_train, x_test, y_train, y_test = split
    x_train, x_test = _scale(x_train, x_test, scaled)
    if not flat:
        x_train, x_test = images(x_train), images(x_test)
    return Digits(
        _sealed(x_train, np.float32), _sealed(y_train, np.int32), _sealed(x_test, np.float32), _sealed(y_test, np.int32)
    )


def images(x: np.ndarray) -> np.ndarray:
    """Flat digits, shape (n, 64), as images, shape (n, 8, 8, 1): which is what a convolution takes.

    Raises:
        ValueError: the last axis doesn't hold 64 pixels.
    """
    x = np.asarray(x)
    if x.ndim != 2 or x.shape[1] != SIDE * SIDE:
        raise ValueError(f"flat digits have shape (n, 64), not {x.shape}")
    return x.reshape(-1, SIDE, SIDE, 1)


def _scale(x_train: np.ndarray, x_test: np.ndarray, scaled: str) -> tuple[np.ndarray, np.ndarray]:
    if scaled == "raw":
        return x_train, x_test
    if scaled == "0..1":
        return x_train / INK, x_test / INK
    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    # a corner that no training digit inks says nothing; the few test digits that do ink it must not become huge
    known = std > 0
    std = np.where(known, std, 1.0)
    return known * (x_train - mean) / std, known * (x_test - mean) / std


def _sealed(values: np.ndarray, dtype: type) -> np.ndarray:
    values = np.ascontiguousarray(values, dtype=dtype)
    values.flags.writeable = False
    return values

"""The digits: real, split the same way each time, and scaled as asked."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from sklearn import datasets

from gradlab.materials.digits import images, load_digits


def test_all_1797_digits_are_there_once():
    digits = load_digits(scaled="raw")
    mine = np.concatenate([digits.x_train, digits.x_test])
    theirs = datasets.load_digits().data
    assert mine.shape == (1797, 64)
    assert sorted(map(bytes, mine.astype(np.uint8))) == sorted(map(bytes, theirs.astype(np.uint8)))


def test_an_image_keeps_its_label():
    known = {bytes(x.astype(np.uint8)): y for x, y in zip(*datasets.load_digits(return_X_y=True), strict=True)}
    digits = load_digits(scaled="raw")
    for x, y in ((digits.x_train, digits.y_train), (digits.x_test, digits.y_test)):
        assert [known[bytes(one.astype(np.uint8))] for one in x] == y.tolist()


def test_shapes_and_dtypes():
    digits = load_digits(test_share=0.25)
    assert digits.x_train.shape == (1347, 64)
    assert digits.x_test.shape == (450, 64)
    assert digits.y_train.shape == (1347,)
    assert {digits.x_train.dtype, digits.x_test.dtype} == {np.dtype("float32")}
    assert {digits.y_train.dtype, digits.y_test.dtype} == {np.dtype("int32")}


def test_one_seed_is_one_split_and_another_another():
    first, again, other = load_digits(), load_digits(), load_digits(seed=1)
    for field in dataclasses.fields(first):
        assert np.array_equal(getattr(first, field.name), getattr(again, field.name))
    assert not np.array_equal(first.y_train, other.y_train)


def test_every_digit_keeps_its_share():
    digits = load_digits(test_share=0.2)
    everywhere = np.bincount(datasets.load_digits().target)
    assert np.abs(np.bincount(digits.y_test) - 0.2 * everywhere).max() <= 1
    assert (np.bincount(digits.y_train) + np.bincount(digits.y_test) == everywhere).all()


@pytest.mark.parametrize(("scaled", "largest"), [("0..1", 1.0), ("raw", 16.0)])
def test_pixels_reach_from_no_ink_to_full(scaled, largest):
    digits = load_digits(scaled=scaled)
    assert digits.x_train.min() == 0
    assert digits.x_train.max() == largest


def test_standardised_pixels_have_mean_0_and_deviation_1_over_the_training_part_and_silent_ones_are_0():
    digits, raw = load_digits(scaled="standardised"), load_digits(scaled="raw")
    varies = raw.x_train.std(axis=0) > 0
    np.testing.assert_allclose(digits.x_train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(digits.x_train[:, varies].std(axis=0), 1, atol=1e-5)
    assert (digits.x_train[:, ~varies] == 0).all()
    assert (digits.x_test[:, ~varies] == 0).all()
    # the test part is scaled by the training part's numbers, not by its own
    pixel = np.flatnonzero(varies)[20]
    expected = (raw.x_test[:, pixel] - raw.x_train[:, pixel].mean()) / raw.x_train[:, pixel].std()
    np.testing.assert_allclose(digits.x_test[:, pixel], expected, rtol=1e-4, atol=1e-5)


def test_images_are_the_same_pixels_row_by_row():
    flat, square = load_digits(), load_digits(flat=False)
    assert square.x_train.shape[1:] == (8, 8, 1)
    assert flat.x_test[3, 8 * 2 + 5] == square.x_test[3, 2, 5, 0]
    assert np.array_equal(images(flat.x_test), square.x_test)
    with pytest.raises(ValueError, match=r"\(n, 64\), not \(64,\)"):
        images(flat.x_test[0])


def test_the_data_cannot_be_changed_by_accident():
    digits = load_digits()
    with pytest.raises(ValueError, match="read-only"):
        digits.x_train[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        digits.x_train = digits.x_test


@pytest.mark.parametrize(
    ("kw", "said"),
    [
        ({"scaled": "0-1"}, "not '0-1'"),
        ({"test_share": 0}, "above 0"),
        ({"test_share": 1.0}, "below 1"),
        ({"test_share": 0.001}, "should be greater or equal to the number of classes"),
    ],
)
def test_what_cannot_be_done_is_refused(kw, said):
    with pytest.raises(ValueError, match=said):
        load_digits(**kw)


def test_loading_needs_neither_tensorflow_nor_the_network():
    program = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "from gradlab.materials.digits import load_digits\n"
        "assert len(load_digits().y_test) == 360\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

"""place_image: right answers written in other ways, shifts known from SciPy, and slopes measured with a ruler."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy import ndimage

from gradlab.exercises.exercise import load
from gradlab.exercises.lesson_05.place_image import place_image
from gradlab.exercises.notebook import evaluate


def by_map_coordinates(image, position, canvas_size):
    rows, columns = np.indices(canvas_size).astype(np.float32)
    coordinates = tf.stack([rows - position[1], columns - position[0]])
    image = tf.convert_to_tensor(image)
    return keras.ops.image.map_coordinates(image, coordinates, order=1, fill_mode="constant", fill_value=0.0)


def pixel_by_pixel(image, position, canvas_size):
    rows, columns = np.indices(canvas_size).astype(np.float32)
    canvas = 0.0
    for r in range(image.shape[0]):
        for c in range(image.shape[1]):
            vertical = tf.nn.relu(1 - tf.abs(rows - r - position[1]))
            horizontal = tf.nn.relu(1 - tf.abs(columns - c - position[0]))
            canvas += image[r, c] * vertical * horizontal
    return canvas


def four_corners(image, position, canvas_size):
    image = tf.cast(image, tf.float32)
    whole = tf.floor(position)
    rest = position - whole
    start = tf.cast(whole, tf.int32)
    row, column = tf.meshgrid(tf.range(image.shape[0]), tf.range(image.shape[1]), indexing="ij")
    canvas = tf.zeros(canvas_size)
    for down in (0, 1):
        for right in (0, 1):
            share = (rest[1] if down else 1 - rest[1]) * (rest[0] if right else 1 - rest[0])
            i, j = row + start[1] + down, column + start[0] + right
            seen = (i >= 0) & (i < canvas_size[0]) & (j >= 0) & (j < canvas_size[1])
            places = tf.boolean_mask(tf.stack([i, j], axis=-1), seen)
            canvas = tf.tensor_scatter_nd_add(canvas, places, tf.boolean_mask(image * share, seen))
    return canvas


def in_double_precision(image, position, canvas_size):
    x, y = tf.unstack(tf.cast(position, tf.float64))
    image = tf.cast(image, tf.float64)

    def tent(gap):
        return tf.where(tf.abs(gap) < 1, 1 - tf.abs(gap), tf.zeros_like(gap))

    i, r = np.arange(canvas_size[0])[:, None], np.arange(image.shape[0])[None]
    j, c = np.arange(canvas_size[1])[:, None], np.arange(image.shape[1])[None]
    return tf.cast(tf.einsum("ir,rc,jc->ij", tent(i - (r + y)), image, tent(j - (c + x))), tf.float32)


def blurred_and_cut_out(image, position, canvas_size):
    whole = tf.floor(position)
    (x, y), rest = tf.unstack(tf.cast(whole, tf.int32)), tf.unstack(position - whole)
    padded = tf.pad(tf.cast(image, tf.float32), [[1, 1], [1, 1]])
    beside = (1 - rest[0]) * padded[:, 1:] + rest[0] * padded[:, :-1]
    smooth = (1 - rest[1]) * beside[1:] + rest[1] * beside[:-1]
    wide = tf.pad(smooth, [[20, 20], [20, 20]])
    return tf.slice(wide, [20 - y, 20 - x], canvas_size)


RIGHT = [blurred_and_cut_out, by_map_coordinates, pixel_by_pixel, four_corners, in_double_precision]


def test_the_example_of_the_docstring():
    canvas = place_image([[8.0]], tf.constant([0.25, 1.0]), (2, 3))
    np.testing.assert_allclose(canvas, [[0, 0, 0], [6, 2, 0]])


@pytest.mark.parametrize("position", [(2.3, 1.6), (-1.4, 0.2), (7.7, 5.1)])
def test_it_is_the_linear_shift_of_scipy(position):
    image = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    wide = np.zeros((30, 30), np.float32)
    wide[10:14, 10:13] = image
    shifted = ndimage.shift(wide, position[::-1], order=1)[10:18, 10:20]
    np.testing.assert_allclose(place_image(image, tf.constant(position, tf.float32), (8, 10)), shifted, atol=1e-5)


def test_the_centre_of_mass_moves_with_the_position():
    position = tf.Variable([3.3, 2.6])
    with tf.GradientTape() as tape:
        canvas = place_image(np.ones((2, 2), np.float32), position, (8, 8))
        across = tf.reduce_sum(canvas * tf.range(8.0)) / tf.reduce_sum(canvas)
    np.testing.assert_allclose(across, 3.3 + 0.5, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(across, position), [1.0, 0.0], atol=1e-5)


def rolled(image, position, canvas_size):
    canvas = tf.pad(image, [[0, canvas_size[0] - image.shape[0]], [0, canvas_size[1] - image.shape[1]]])
    return tf.roll(canvas, tf.cast(tf.round(position[::-1]), tf.int32), axis=[0, 1])


def image_by_transform(image, position, canvas_size):
    canvas = tf.pad(image, [[0, canvas_size[0] - image.shape[0]], [0, canvas_size[1] - image.shape[1]]])
    transform = tf.stack([1.0, 0.0, -position[0], 0.0, 1.0, -position[1], 0.0, 0.0])
    return keras.ops.image.affine_transform(canvas[..., None], transform, data_format="channels_last")[..., 0]


def doubled_slope(image, position, canvas_size):
    return place_image(image, 2 * position - tf.stop_gradient(position), canvas_size)


def unpacked(image, position, canvas_size):
    x, y = position
    return place_image(image, tf.stack([x, y]), canvas_size)


def square_canvas(image, position, canvas_size):
    return place_image(image, position, (canvas_size[0], canvas_size[0]))


def quadratic_shares(image, position, canvas_size):
    whole = tf.floor(position)
    rest = position - whole
    return place_image(image, whole + rest**2, canvas_size)


def no_negative_positions(image, position, canvas_size):
    return place_image(image, tf.maximum(position, 0.0), canvas_size)


def no_slope(image, position, canvas_size):
    return place_image(image, tf.stop_gradient(position), canvas_size) + 0.0 * tf.reduce_sum(position)


def whole_for_variables(image, position, canvas_size):
    whole = tf.floor(position) if isinstance(position, tf.Variable) else position
    return place_image(image, whole, canvas_size)


def gaussian_shares(image, position, canvas_size):
    def shares(length, pixels, start):
        gap = tf.range(length, dtype=tf.float32)[:, None] - tf.range(pixels, dtype=tf.float32) - start
        return tf.exp(-(gap**2)) / tf.reduce_sum(tf.exp(-(gap**2)), axis=0)

    down, across = (
        shares(canvas_size[0], image.shape[0], position[1]),
        shares(canvas_size[1], image.shape[1], position[0]),
    )
    return down @ tf.cast(image, tf.float32) @ tf.transpose(across)


WRONG = [
    no_slope,
    whole_for_variables,
    gaussian_shares,
    rolled,
    image_by_transform,
    doubled_slope,
    unpacked,
    square_canvas,
    quadratic_shares,
    no_negative_positions,
]


@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: answer.__name__)
def test_other_wrong_places_are_refused(answer):
    verdict = evaluate(load("place_image"), answer)
    assert verdict.outcome in ("wrong", "error"), verdict.message


def test_a_slope_of_zero_is_not_taken_for_an_image_that_is_kept_inside():
    assert evaluate(load("place_image"), no_slope).misconceptions == ()


def test_a_number_taken_from_the_position_costs_the_graph_alone():
    def numpy_floor(image, position, canvas_size):
        whole = np.floor(np.asarray(position))
        return place_image(image, tf.constant(whole) + (position - whole), canvas_size)

    verdict = evaluate(load("place_image"), numpy_floor)
    assert [part for part, right in verdict.parts.items() if not right] == ["inside a tf.function"]
    assert verdict.misconceptions == ("whole-part-from-numpy",)


def as_the_program_does(image, position, canvas_size):
    whole = tf.cast(position, tf.int32)
    x, y = tf.unstack(whole)
    height, width = canvas_size
    return tf.pad(image, [[y, height - image.shape[0] - y], [x, width - image.shape[1] - x]])


def numpy_loops(image, position, canvas_size):
    x, y = float(position[0]), float(position[1])
    canvas = np.zeros(canvas_size, np.float32)
    for i in range(canvas_size[0]):
        for j in range(canvas_size[1]):
            for r in range(image.shape[0]):
                for c in range(image.shape[1]):
                    down, across = abs(i - (r + y)), abs(j - (c + x))
                    if down < 1 and across < 1:
                        canvas[i, j] += (1 - down) * (1 - across) * float(image[r, c])
    return canvas


def without_a_maximum(image, position, canvas_size):
    rows, columns = tf.range(canvas_size[0], dtype=tf.float32), tf.range(canvas_size[1], dtype=tf.float32)
    down = 1 - tf.abs(rows[:, None] - (tf.range(image.shape[0], dtype=tf.float32) + position[1]))
    across = 1 - tf.abs(columns[:, None] - (tf.range(image.shape[1], dtype=tf.float32) + position[0]))
    return tf.einsum("ir,rc,jc->ij", down, tf.convert_to_tensor(image), across)


def four_shares_and_pad(image, position, canvas_size):
    whole = tf.floor(position)
    (x, y), rest = tf.unstack(tf.cast(whole, tf.int32)), tf.unstack(position - whole)
    canvas = 0.0
    for down in (0, 1):
        for right in (0, 1):
            share = (rest[1] if down else 1 - rest[1]) * (rest[0] if right else 1 - rest[0])
            above, before = y + down, x + right
            below, after = canvas_size[0] - image.shape[0] - above, canvas_size[1] - image.shape[1] - before
            canvas += share * tf.pad(image, [[above, below], [before, after]])
    return canvas


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (as_the_program_does, "cast-and-padded"),
        (numpy_loops, "all-in-numpy"),
        (without_a_maximum, "negative-shares"),
        (four_shares_and_pad, "padded"),
        (unpacked, "unpacked"),
    ],
)
def test_usual_attempts_are_named(answer, mistake):
    assert evaluate(load("place_image"), answer).misconceptions == (mistake,)


def test_the_four_way_split_of_the_docstring():
    np.testing.assert_allclose(place_image([[8.0]], tf.constant([0.25, 0.5]), (2, 2)), [[3, 1], [3, 1]])

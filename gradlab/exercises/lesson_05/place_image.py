"""place_image: an image at a position that need not be whole, so that the position has a gradient."""

import numpy as np
import tensorflow as tf

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance

NEEDS_VALUES = "it needs a number that a tf.function does not have yet"
UNPACKS = "it unpacks a tensor, and inside a tf.function a tensor can't be looped over"
NO_PADDING = "tf.pad stops: it can't add a negative number of rows or columns"


def place_image(image, position, canvas_size):
    """Place a small image on an empty canvas, at a position that need not be whole and that can be learned.

    ``position[0]`` is x and ``position[1]`` is y: the upper left pixel of the image comes to lie x columns to the right
    of the upper left pixel of the canvas, and y rows below it. So the image's pixel in row r and column c comes to lie
    at row r + y, column c + x. Where that isn't whole, its value is shared among the pixels around it: the pixel in
    row i and column j of the canvas gets the share

        (1 - |i - (r + y)|) * (1 - |j - (c + x)|)

    of it if both distances are below 1, and nothing otherwise. All shares that a pixel gets are added up. What comes
    to lie outside the canvas is lost.

    image: float32 tensor or array of shape (rows, columns).
    position: float32 tensor or variable of shape (2,): x and y, any numbers, negative ones too.
    canvas_size: (height, width), two integers.
    Returns a float32 tensor of shape (height, width), through which a gradient reaches ``position`` and ``image``. It
    must also work inside a ``tf.function``: there ``position`` has no number yet, so no ``.numpy()``, ``float`` or
    ``int`` of it. Nor ``x, y = position``: that is a loop over a tensor, which Python can't do there. ``position[0]``
    and ``position[1]`` work everywhere.

    Examples: ``place_image([[8.0]], tf.constant([0.25, 1.0]), (2, 3))`` is ``[[0, 0, 0], [6, 2, 0]]``. At
    ``[0.25, 0.5]`` four pixels share: in a canvas of ``(2, 2)`` that gives ``[[3, 1], [3, 1]]``, for the columns get
    0.75 and 0.25 and the rows 0.5 and 0.5.
    """
    image = tf.convert_to_tensor(image, tf.float32)

    def shares(length, pixels, start):
        """Which share of each pixel of the image goes to each place along one axis: shape (length, pixels)."""
        places = tf.range(length, dtype=tf.float32)[:, None]
        lies_at = tf.range(pixels, dtype=tf.float32)[None, :] + start
        return tf.maximum(0.0, 1.0 - tf.abs(places - lies_at))

    down = shares(canvas_size[0], image.shape[0], position[1])
    across = shares(canvas_size[1], image.shape[1], position[0])
    return down @ image @ tf.transpose(across)


def probe(answer, rng):
    """Places inside the canvas, over each of its edges, and a whole one; the slopes in position and image; a graph."""
    image = rng.uniform(0.5, 1.5, (3, 5)).astype(np.float32)
    size = (9, 12)
    weights = tf.constant(rng.normal(size=size), tf.float32)
    x, y = rng.uniform(0.2, 0.4, 2)
    inside = np.array([3 + x, 2 + 1 - y], np.float32)
    upper_left, lower_right = np.array([-2 + x, -1 - y], np.float32), np.array([9 + y, 7 - x], np.float32)
    whole = np.array([4.0, 1.0], np.float32)
    variable = tf.Variable(np.array([5 - x, 3 + y], np.float32))

    def placed(position, image=image):
        with tf.GradientTape() as tape:
            watched = [position, image]
            for one in watched:
                tape.watch(one)
            canvas = answer(image, position, size)
            total = tf.reduce_sum(weights * tf.cast(tf.convert_to_tensor(canvas), tf.float32))
        return canvas, *tape.gradient(total, watched)

    canvas, in_position, in_image = placed(tf.constant(inside), tf.constant(image))
    again, in_variable, _ = placed(variable, tf.constant(image))
    over = [_over_the_edge(placed, position, image) for position in (upper_left, lower_right)]
    return {
        "the canvas": [canvas, again],
        "slope in the position": [in_position, in_variable],
        "slope in the image": in_image,
        "over the edges": over,
        "a whole position": answer(image, tf.constant(whole), size),
        "inside a tf.function": _in_a_graph(answer, image, tf.constant(inside), size),
    }


def _over_the_edge(placed, position, image):
    """Canvas and slope where part of the image lies outside, or why there are none, in words."""
    try:
        canvas, slope, _ = placed(tf.constant(position), tf.constant(image))
    except (ValueError, tf.errors.OpError) as error:
        words = NO_PADDING if "Padding" in str(error) else f"{type(error).__name__}: {str(error)[:60]}"
        return dict.fromkeys(("canvas", "slope"), words)
    return {"canvas": canvas, "slope": slope}


def _in_a_graph(answer, image, position, size):
    """The canvas that a tf.function makes of a tensor position, or why it can't, in words."""
    place = tf.function(lambda position: answer(image, position, size), autograph=False)
    try:
        return place.get_concrete_function(tf.TensorSpec((2,)))(position)  # a call of `place` would warn of retracing
    except (AttributeError, TypeError, NotImplementedError) as error:
        if "place_image" in str(error):
            return error
        return UNPACKS if "terating over" in str(error) else NEEDS_VALUES


def _tents(image, position, size, distance=lambda gap, length: gap):
    """The reference, with a distance of one's own between a place on the canvas and where a pixel lies."""
    rows, columns = image.shape
    down = tf.range(size[0], dtype=tf.float32)[:, None] - tf.range(rows, dtype=tf.float32) - position[1]
    across = tf.range(size[1], dtype=tf.float32)[:, None] - tf.range(columns, dtype=tf.float32) - position[0]
    down = tf.maximum(0.0, 1.0 - tf.abs(distance(down, size[0])))
    across = tf.maximum(0.0, 1.0 - tf.abs(distance(across, size[1])))
    return down @ image @ tf.transpose(across)


def int_cast(image, position, canvas_size):
    """Cuts the position to whole pixels."""
    return _tents(image, tf.cast(tf.cast(position, tf.int32), tf.float32), canvas_size)


def floored(image, position, canvas_size):
    """Takes the whole pixels below the position."""
    return _tents(image, tf.floor(position), canvas_size)


def rounded(image, position, canvas_size):
    """Takes the nearest whole pixels."""
    return _tents(image, tf.round(position), canvas_size)


def rows_for_x(image, position, canvas_size):
    """Moves down by x and to the right by y."""
    return _tents(image, position[::-1], canvas_size)


def up_and_left(image, position, canvas_size):
    """Moves the image the other way."""
    return _tents(image, -position, canvas_size)


def from_the_centre(image, position, canvas_size):
    """Puts the middle of the image at the position."""
    rows, columns = image.shape
    return _tents(image, position - tf.constant([columns // 2, rows // 2], tf.float32), canvas_size)


def unpacked(image, position, canvas_size):
    """Unpacks the position, which a graph can't."""
    x, y = position
    return _tents(image, tf.stack([x, y]), canvas_size)


def negative_shares(image, position, canvas_size):
    """Forgets that a share is never negative."""
    rows, columns = image.shape
    down = tf.range(canvas_size[0], dtype=tf.float32)[:, None] - tf.range(rows, dtype=tf.float32) - position[1]
    across = tf.range(canvas_size[1], dtype=tf.float32)[:, None] - tf.range(columns, dtype=tf.float32) - position[0]
    return (1.0 - tf.abs(down)) @ image @ tf.transpose(1.0 - tf.abs(across))


def one_maximum(image, position, canvas_size):
    """Puts one maximum around the product, where two negative factors make a positive share."""
    rows, columns = image.shape
    down = tf.range(canvas_size[0], dtype=tf.float32)[:, None] - tf.range(rows, dtype=tf.float32) - position[1]
    across = tf.range(canvas_size[1], dtype=tf.float32)[:, None] - tf.range(columns, dtype=tf.float32) - position[0]
    products = (1.0 - tf.abs(down))[:, None, :, None] * (1.0 - tf.abs(across))[None, :, None, :]
    return tf.einsum("ijrc,rc->ij", tf.maximum(0.0, products), tf.convert_to_tensor(image))


def cast_and_padded(image, position, canvas_size):
    """Cuts the position to whole pixels and pads, as the program of the lesson does."""
    x, y = tf.unstack(tf.cast(position, tf.int32))
    rows, columns = image.shape
    return tf.pad(image, [[y, canvas_size[0] - rows - y], [x, canvas_size[1] - columns - x]])


def padded(image, position, canvas_size):
    """Shares, and pads with numbers that may be negative."""
    cast_and_padded(image, tf.floor(position), canvas_size)
    return _tents(image, position, canvas_size)


def all_in_numpy(image, position, canvas_size):
    """Computes the right canvas from numbers alone."""
    return _tents(tf.constant(np.asarray(image)), tf.constant(position.numpy()), canvas_size)


def through_numpy(image, position, canvas_size):
    """Computes the right canvas from the position's numbers alone."""
    numbers = tf.constant(position.numpy())
    return _tents(image, numbers, canvas_size)


def whole_part_from_numpy(image, position, canvas_size):
    """Splits the position with NumPy, and keeps the gradient of what is left."""
    whole = np.floor(position.numpy())
    return _tents(image, whole + (position - whole), canvas_size)


def shares_mixed_up(image, position, canvas_size):
    """Gives the near pixel the share of the far one."""
    whole = tf.floor(position)
    return _tents(image, whole + 1.0 - (position - whole), canvas_size)


def kept_inside(image, position, canvas_size):
    """Moves the image back until all of it is on the canvas."""
    rows, columns = image.shape
    limits = tf.constant([canvas_size[1] - columns, canvas_size[0] - rows], tf.float32)
    return _tents(image, tf.clip_by_value(position, 0.0, limits), canvas_size)


def wraps_around(image, position, canvas_size):
    """Lets what leaves on one side come in on the other."""
    return _tents(
        image,
        position,
        canvas_size,
        lambda gap, length: tf.math.floormod(gap + length / 2, float(length)) - length / 2,
    )


def only_across(image, position, canvas_size):
    """Shares between columns and rounds the rows."""
    return _tents(image, tf.stack([position[0], tf.round(position[1])]), canvas_size)


def straight_through(image, position, canvas_size):
    """Rounds, and pretends in the gradient that it hadn't."""
    smooth = _tents(image, position, canvas_size)
    return smooth + tf.stop_gradient(_tents(image, tf.round(position), canvas_size) - smooth)


def frozen_image(image, position, canvas_size):
    """Takes the image as plain numbers, so that nothing comes back to it."""
    return _tents(tf.constant(np.asarray(image)), position, canvas_size)


exercise = Exercise(
    answer=place_image,
    probe=probe,
    misconceptions=[
        Misconception(
            "int-cast",
            int_cast,
            "A position that became an integer has no slope, so None comes back. Nothing may be whole here: share each "
            "pixel's value between the places around it, and the shares hang on the position.",
        ),
        Misconception(
            "floored",
            floored,
            "floor cuts the gradient as an integer does. Share each pixel's value between the places around it; the "
            "shares are what the gradient comes through.",
        ),
        Misconception(
            "rounded",
            rounded,
            "Rounding makes steps, and a step has no slope: the tape gives None. Share each pixel's value between the "
            "places around it instead.",
        ),
        Misconception(
            "rows-for-x",
            rows_for_x,
            "Your image moves down where it should move to the right. x counts columns, and columns are the second "
            "axis of an array.",
        ),
        Misconception(
            "up-and-left",
            up_and_left,
            "Your image moves up and to the left for a positive position. Which place does the pixel in row r, column "
            "c come to lie at?",
        ),
        Misconception(
            "centred",
            from_the_centre,
            "You put the middle of the image at the position. Asked for is its upper left pixel.",
        ),
        Misconception(
            "unpacked",
            unpacked,
            "x, y = position unpacks a tensor. Inside a tf.function that is a loop over something that has no numbers "
            "yet, and Python can't do it. Take position[0] and position[1].",
        ),
        Misconception(
            "negative-shares",
            negative_shares,
            "At distances above 1 your shares are negative, and far away they grow. There a place should get nothing.",
        ),
        Misconception(
            "one-maximum",
            one_maximum,
            "You cut off the product at 0. Where both distances are above 1, two negative factors make a positive "
            "share. Each factor by itself has to stop at 0.",
        ),
        Misconception(
            "cast-and-padded",
            cast_and_padded,
            "Two things. A position that became an integer has no slope, so None comes back: share each pixel's value "
            "between the places around it. And tf.pad can't take a picture over an edge; with a share for each place, "
            "nothing needs to be padded.",
        ),
        Misconception(
            "padded",
            padded,
            "Right while all of the image lies on the canvas. Over an edge tf.pad would have to add a negative number "
            "of rows or columns. Shares computed for each place of the canvas need no padding.",
        ),
        Misconception(
            "all-in-numpy",
            all_in_numpy,
            "The canvas is right, and no gradient reaches the position or the image: their numbers left TensorFlow on "
            "the way (float, .numpy() and NumPy arrays do that). Build the canvas from the tensors themselves.",
        ),
        Misconception(
            "through-numpy",
            through_numpy,
            "The canvas is right, and no gradient reaches the position: its numbers left TensorFlow on the way. Use "
            "the tensor itself, position[0] and position[1].",
        ),
        Misconception(
            "whole-part-from-numpy",
            whole_part_from_numpy,
            "Right as long as the position has a number. Inside a tf.function it has none yet: tf.floor can do there "
            "what NumPy can't.",
        ),
        Misconception(
            "shares-mixed-up",
            shares_mixed_up,
            "The near pixel gets the share of the far one, so the image moves back where it should move on. At 0.25 "
            "from a pixel, that pixel gets 0.75.",
        ),
        Misconception(
            "kept-inside",
            kept_inside,
            "Over the edges you push the image back onto the canvas. What comes to lie outside is lost, and the slope "
            "goes on.",
        ),
        Misconception(
            "wraps-around",
            wraps_around,
            "What leaves the canvas on one side comes in again on the other. It should be lost.",
        ),
        Misconception(
            "only-across",
            only_across,
            "Your x is shared between columns, and your y is still rounded. Treat the rows as you treat the columns.",
        ),
        Misconception(
            "straight-through",
            straight_through,
            "A gradient comes, but of another function: what you draw still jumps from pixel to pixel. Draw what the "
            "slope is of.",
        ),
        Misconception(
            "frozen-image",
            frozen_image,
            "No gradient reaches the image: it became a plain array on the way. tf.convert_to_tensor leaves a tensor "
            "as it is.",
        ),
    ],
    hints=[
        "A product of two shares, one for the rows and one for the columns: treat the two axes apart. How large is the "
        "share of one pixel at each place along one axis?",
        "Along the columns: places are 0, 1, ..., width − 1; pixel c lies at c + x. Make a table of all distances, one "
        "row a place, one column a pixel (tf.range and broadcasting), and of it the shares 1 − |distance|, 0 if that "
        "is negative. The same with y for the rows.",
        "`shares = tf.maximum(0.0, 1.0 - tf.abs(places[:, None] - lies_at[None, :]))` for each axis, and the canvas is "
        "`down @ image @ tf.transpose(across)`.",
    ],
    explanation=(
        "Moving the position moves the shares, and the shares are what the loss sees: so the position has a slope. "
        "Spatial transformers and deformable convolutions read an image in this way, bilinearly."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=2e-5),
    weights={"the canvas": 2, "slope in the position": 2},
    level="core",
)

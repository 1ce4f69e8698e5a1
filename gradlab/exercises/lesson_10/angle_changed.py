"""angle_changed: by how many degrees a list of gradients has been turned."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def angle_changed(before, after):
    """Return the angle between two lists of gradients, in degrees: 0 if only the length changed.

    Take each list as one long vector of numbers. The cosine of the angle between two vectors is the sum of the products
    of their elements, divided by both lengths.

    before, after: lists of arrays; the arrays at one place have the same shape. Neither list is all zeros.
    Returns one number from 0.0 to 180.0, never NaN: rounding may make a cosine slightly larger than 1. An error of 0.05
    degrees doesn't matter.

    Example: ``[[3.0, 0.0], [0.0]]`` against ``[[1.0, 0.0], [1.0]]`` is 45.0; against ``[[6.0, 0.0], [0.0]]`` it is 0.0.
    """
    one = np.concatenate([np.ravel(array) for array in before]).astype(np.float64)
    other = np.concatenate([np.ravel(array) for array in after]).astype(np.float64)
    cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def probe(answer, rng):
    """Gradients that were clipped by value, turned a little, scaled, reversed; tensors of very different sizes."""

    def draw(*shapes, sizes=None):
        sizes = sizes or [1.0] * len(shapes)
        return [size * rng.normal(size=shape) for shape, size in zip(shapes, sizes, strict=True)]

    gradients = draw((4, 3), (3,), (3, 2, 2), sizes=[3.0, 0.3, 1.0])
    limit = float(np.quantile(np.abs(np.concatenate([g.ravel() for g in gradients])), 0.5))
    nudged = [g + 0.1 * rng.normal(size=g.shape) for g in gradients]
    per_tensor = [g / np.linalg.norm(g) for g in gradients]
    noise = draw((4, 3), (3,), (3, 2, 2))
    opposite = [-1.5 * g + 0.5 * n for g, n in zip(gradients, noise, strict=True)]
    copies = [draw((5, 4), (6,)) for _ in range(6)]
    return {
        "clipped by value": answer(gradients, [np.clip(g, -limit, limit) for g in gradients]),
        "turned a little": answer(gradients, nudged),
        "each tensor scaled by itself": answer(gradients, per_tensor),
        "turned far": answer(gradients, opposite),
        "only the length changed": [
            answer([g.astype(np.float32) for g in copy], [np.float32(0.3) * g.astype(np.float32) for g in copy])
            for copy in copies
        ],
    }


def _vector(arrays):
    return np.concatenate([np.ravel(array) for array in arrays]).astype(np.float64)


def _cosine(one, other):
    return np.clip(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)), -1, 1)


def cosine(before, after):
    """Returns the cosine."""
    return _cosine(_vector(before), _vector(after))


def radians(before, after):
    """Returns the angle in radians."""
    return np.arccos(_cosine(_vector(before), _vector(after)))


def mean_of_angles(before, after):
    """Takes the angle for each tensor and averages."""
    return np.mean([angle_changed([one], [other]) for one, other in zip(before, after, strict=True)])


def list_of_angles(before, after):
    """Returns an angle for each tensor."""
    return [float(angle_changed([one], [other])) for one, other in zip(before, after, strict=True)]


def angle_of_mean_cosine(before, after):
    """Averages the cosines of the tensors."""
    cosines = [_cosine(_vector([one]), _vector([other])) for one, other in zip(before, after, strict=True)]
    return np.degrees(np.arccos(np.mean(cosines)))


def first_tensor(before, after):
    """Looks at the first tensor only."""
    return angle_changed(before[:1], after[:1])


def never_above_90(before, after):
    """Drops the sign of the cosine."""
    return np.degrees(np.arccos(np.abs(_cosine(_vector(before), _vector(after)))))


def norms_added(before, after):
    """Divides by the sums of the norms of the tensors."""
    lengths = [sum(np.linalg.norm(array) for array in arrays) for arrays in (before, after)]
    return np.degrees(np.arccos(np.clip(_vector(before) @ _vector(after) / (lengths[0] * lengths[1]), -1, 1)))


def centred(before, after):
    """Takes the correlation for the cosine."""
    return np.degrees(np.arccos(np.clip(np.corrcoef(_vector(before), _vector(after))[0, 1], -1, 1)))


exercise = Exercise(
    answer=angle_changed,
    probe=probe,
    misconceptions=[
        Misconception(
            "cosine-for-angle",
            cosine,
            "That is the cosine: 1 where nothing has turned. The angle is its arc cosine, in degrees.",
        ),
        Misconception("radians", radians, "That angle is in radians. A right angle has 90 degrees: convert it."),
        Misconception(
            "mean-of-angles",
            mean_of_angles,
            "You take an angle for each tensor and average them. Scale each tensor by a factor of its own, and the "
            "whole turns while you see nothing: put all of them into one vector first.",
        ),
        Misconception(
            "angle-per-tensor",
            list_of_angles,
            "You return an angle for each tensor. One is asked for: that of all the numbers as one long vector.",
        ),
        Misconception(
            "mean-of-cosines",
            angle_of_mean_cosine,
            "You average the cosines of the tensors. Add up the products over all tensors first, and divide by the two "
            "lengths of the whole.",
        ),
        Misconception(
            "first-tensor-only",
            first_tensor,
            "You look at the first tensor only. The others belong to the vector too.",
        ),
        Misconception(
            "sign-dropped",
            never_above_90,
            "Your angle is never above 90 degrees. A vector that points the other way has a negative cosine: keep the "
            "sign.",
        ),
        Misconception(
            "norms-added",
            norms_added,
            "You add up the lengths of the tensors. The length of the whole is the root of the sum of all squares.",
        ),
        Misconception(
            "correlation-for-cosine",
            centred,
            "You subtract the means first: that is a correlation. An angle is measured from the origin.",
        ),
    ],
    hints=[
        "Make one long vector of each list. What do you know about the angle of two vectors?",
        "The sum of the products, divided by the two lengths, is the cosine. Then the arc cosine, then degrees.",
        "`np.concatenate([np.ravel(a) for a in before])` makes the vector; `np.degrees(np.arccos(np.clip(c, -1, 1)))` "
        "makes degrees of the cosine c.",
    ],
    explanation=(
        "Clipping by the global norm gives 0 degrees. Clipping by value, or each tensor by itself, gives more: the "
        "step goes somewhere else than the gradient says."
    ),
    tolerance=Tolerance(rtol=1e-3, atol=0.05),
    level="stretch",
)

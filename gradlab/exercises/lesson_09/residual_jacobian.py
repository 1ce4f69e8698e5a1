"""residual_jacobian: how a chain of residual blocks answers to its input, from the answers of its branches."""

import numpy as np

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def residual_jacobian(jacobians):
    """Return the Jacobian of a chain of residual blocks, given the Jacobians of their branches.

    Block number i computes ``x_next = x + branch_i(x)``. So a small move of ``x`` reaches ``x_next`` twice: as it is,
    and through the branch. ``jacobians[i]`` is the Jacobian of branch_i alone, at the x that arrives there: one row
    for each number that comes out, one column for each that goes in.

    jacobians: array (blocks, n, n), or a list of arrays (n, n), in the order in which x goes through the blocks; at
    least one. Returns an array (n, n): how the numbers after the last block (rows) answer to those before the first
    block (columns).

    Examples: two blocks of width 1, whose branches have the slopes 0.5 and 0.1: ``residual_jacobian([[[0.5]],
    [[0.1]]])`` is ``[[1.65]]``. One block: ``residual_jacobian([[[0, 1], [0, 0]]])`` is ``[[1, 1], [0, 1]]``.
    """
    jacobians = np.asarray(jacobians)
    identity = np.eye(jacobians.shape[-1])
    whole = identity
    for jacobian in jacobians:
        whole = (identity + jacobian) @ whole
    return whole


def probe(answer, rng):
    """Chains of one, two and five blocks, of widths 1, 2 and 4; as a list and as an array."""
    one = [rng.normal(size=(3, 3))]
    two = [rng.normal(size=(2, 2)) for _ in range(2)]
    many = 0.5 * rng.normal(size=(5, 4, 4))
    slopes = rng.uniform(0.2, 1.5, size=(4, 1, 1))
    return {
        "one block": answer(one),
        "two blocks": answer(two),
        "five blocks in an array": answer(many),
        "width 1": answer(slopes),
        "branches that do nothing": answer(np.zeros((3, 2, 2))),
    }


def _product(matrices):
    """The product in the order of the backward pass: the last one on the left."""
    whole = np.eye(np.shape(matrices)[-1])
    for matrix in matrices:
        whole = np.asarray(matrix) @ whole
    return whole


def no_skip(jacobians):
    """Multiplies the branches, as in a plain chain."""
    return _product(jacobians)


def sum_of_branches(jacobians):
    """Adds the branches' Jacobians to one identity."""
    return np.eye(np.shape(jacobians)[-1]) + np.sum(jacobians, axis=0)


def sum_of_blocks(jacobians):
    """Adds the blocks' Jacobians, each with its identity."""
    return np.sum(np.eye(np.shape(jacobians)[-1]) + np.asarray(jacobians), axis=0)


def forward_order(jacobians):
    """Multiplies from left to right, the first block on the left."""
    identity = np.eye(np.shape(jacobians)[-1])
    return _product([identity + np.asarray(jacobian) for jacobian in jacobians][::-1])


def one_identity(jacobians):
    """Multiplies the branches and adds the identity at the end."""
    return np.eye(np.shape(jacobians)[-1]) + _product(jacobians)


def elementwise(jacobians):
    """Multiplies element by element."""
    return np.prod(np.eye(np.shape(jacobians)[-1]) + np.asarray(jacobians), axis=0)


def ones_everywhere(jacobians):
    """Adds 1 to every element in place of the identity matrix."""
    return _product([1 + np.asarray(jacobian) for jacobian in jacobians])


def transposed(jacobians):
    """The product that carries gradients back, which is the transpose."""
    return residual_jacobian(jacobians).T


exercise = Exercise(
    answer=residual_jacobian,
    probe=probe,
    misconceptions=[
        Misconception(
            "no-skip",
            no_skip,
            "This is the Jacobian of a plain chain: only the ways through every branch are in it. Each block also "
            "hands x on as it is. What is the Jacobian of `x + branch(x)`?",
        ),
        Misconception(
            "sum-of-branches",
            sum_of_branches,
            "You have every way that passes through one branch, and the one through none. What about those through two "
            "branches, or more? Steps in a row multiply (lesson 00).",
        ),
        Misconception(
            "sum-of-blocks",
            sum_of_blocks,
            "Each block is right, and then you add them. The blocks stand one behind the other: steps in a row "
            "multiply.",
        ),
        Misconception(
            "order-turned-round",
            forward_order,
            "The product is in the wrong order, which shows only where the width is above 1. In `A @ B`, B acts first: "
            "where does the first block have to stand?",
        ),
        Misconception(
            "one-identity",
            one_identity,
            "You add the identity once, as if one skip led around all the blocks. Each block has a skip of its own.",
        ),
        Misconception(
            "element-by-element",
            elementwise,
            "You multiply element by element. A number that comes out depends on all n that go in, and each of them on "
            "all n before it: that is the matrix product, `@`.",
        ),
        Misconception(
            "ones-everywhere",
            ones_everywhere,
            "You add 1 to every element. The skip hands number i on to number i and to no other: its Jacobian has ones "
            "on the diagonal alone.",
        ),
        Misconception(
            "transposed",
            transposed,
            "Rows and columns are swapped. Rows are the numbers that come out of the last block.",
        ),
    ],
    hints=[
        "First one block: if x moves by a little d, then x + branch(x) moves by d and by J @ d. By which matrix is d "
        "multiplied?",
        "The Jacobian of a block is identity plus J. For two blocks in a row it is the second one's times the first "
        "one's. `np.eye(n)` is the identity matrix.",
        "Start with `whole = np.eye(n)`, and for each J, in the order given: `whole = (np.eye(n) + J) @ whole`.",
    ],
    explanation=(
        "Multiply the product out: 1 way around every branch, one for each way through a single branch, and so on to "
        "the one that goes through all. A plain chain has only the last. That 1 doesn't shrink with the depth."
    ),
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    weights={"five blocks in an array": 2},
)

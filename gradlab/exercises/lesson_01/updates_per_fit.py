"""updates_per_fit: how often one call of fit changes the weights."""

from gradlab.exercises.exercise import Exercise, Misconception, Tolerance


def updates_per_fit(samples, batch_size, epochs):
    """Return how many times ``fit`` updates the weights.

    ``fit`` walks through all ``samples`` training examples once per epoch. It takes ``batch_size`` examples at a time
    and updates the weights once for each such batch. Where the samples don't divide evenly, the last batch of an epoch
    is smaller, and it counts as any other. The next epoch starts with a new batch.

    samples, batch_size, epochs: whole numbers, 1 or more. ``batch_size`` may be larger than ``samples``.
    Returns one whole number. Example: ``updates_per_fit(70, 32, 3)`` is ``9``: each epoch has batches of 32, 32 and 6.
    """
    full_batches, left_over = divmod(samples, batch_size)
    batches = full_batches + (1 if left_over else 0)
    return batches * epochs


def probe(answer, rng):
    """A small and a large remainder, none, one epoch, a batch that holds everything, and very small and large ones.

    Where nothing is left over, the number of batches is even once and odd once: Python rounds halves to even numbers.
    """
    batch_size = int(rng.integers(20, 40))
    full_batches = int(rng.integers(8, 14))
    epochs = int(rng.integers(4, 8))
    few, many = int(rng.integers(1, 3)), batch_size - 1
    large_batch = int(rng.integers(2_000, 4_000))
    return {
        "a few left over": answer(full_batches * batch_size + few, batch_size, epochs),
        "many left over": answer(full_batches * batch_size + many, batch_size, epochs),
        "nothing left over": [answer(batches * batch_size, batch_size, epochs) for batches in (5, full_batches, 14)],
        "one epoch": answer(full_batches * batch_size + few, batch_size, 1),
        "batch larger than the data": answer(batch_size - few, batch_size, epochs),
        "batches of one": [answer(samples, 1, epochs) for samples in (few + 3, few + 4)],
        "large batches": answer(full_batches * large_batch + few, large_batch, epochs),
    }


def last_batch_dropped(samples, batch_size, epochs):
    """Counts full batches only."""
    return samples // batch_size * epochs


def one_epoch_only(samples, batch_size, epochs):
    """Counts the batches of one epoch."""
    return -(-samples // batch_size)


def epochs_run_together(samples, batch_size, epochs):
    """Cuts all epochs into batches as if they were one long list."""
    return -(-samples * epochs // batch_size)


def smaller_batch_once(samples, batch_size, epochs):
    """Adds the smaller batch once, at the end of everything."""
    return samples // batch_size * epochs + (samples % batch_size > 0)


def always_one_more(samples, batch_size, epochs):
    """Adds a batch even when nothing is left over."""
    return (samples // batch_size + 1) * epochs


def rounded(samples, batch_size, epochs):
    """Rounds to the nearest number of batches."""
    return int(samples / batch_size + 0.5) * epochs


def fraction_kept(samples, batch_size, epochs):
    """Divides, and leaves a fraction of a batch."""
    return samples / batch_size * epochs


def one_per_sample(samples, batch_size, epochs):
    """Counts an update for every example."""
    return samples * epochs


exercise = Exercise(
    answer=updates_per_fit,
    probe=probe,
    misconceptions=[
        Misconception(
            "last-batch-dropped",
            last_batch_dropped,
            "Examples that don't fill a batch are dropped in your count. fit uses them too, as a smaller last batch.",
        ),
        Misconception(
            "one-epoch",
            one_epoch_only,
            "This is the count for one epoch. fit walks through the data `epochs` times.",
        ),
        Misconception(
            "epochs-run-together",
            epochs_run_together,
            "You cut all epochs together into batches. No batch holds examples of two epochs: each epoch ends with its "
            "own small batch.",
        ),
        Misconception(
            "smaller-batch-once",
            smaller_batch_once,
            "You count the smaller batch once in all. It comes at the end of every epoch.",
        ),
        Misconception(
            "always-one-more",
            always_one_more,
            "Your count adds a last batch even where nothing is left over. When does the smaller batch exist?",
        ),
        Misconception(
            "rounded-to-nearest",
            rounded,
            "You round to the nearest whole number of batches. A batch with a single example in it is a batch as well.",
        ),
        Misconception(
            "fraction-of-a-batch",
            fraction_kept,
            "Your count has fractions of a batch in it. A batch that isn't full still makes one whole update.",
        ),
        Misconception(
            "one-per-sample",
            one_per_sample,
            "You count an update for every example. All examples of a batch share one update.",
        ),
    ],
    hints=[
        "Count the batches of one epoch first. With 70 examples and batches of 32, which batches are there?",
        "The number of batches is samples divided by batch_size, rounded up. Every epoch has that many again.",
        "`math.ceil(samples / batch_size)` rounds up (import math); multiply it by epochs.",
    ],
    tolerance=Tolerance(rtol=0.0, atol=0.01),
    explanation=(
        "This is the number that learning-rate schedules count in. Twice the batch size means half the updates per "
        "epoch, so runs with different batch sizes are compared by updates as well as by epochs."
    ),
    level="stretch",
)

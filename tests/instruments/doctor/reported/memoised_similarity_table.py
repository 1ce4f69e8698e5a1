"""A similarity table is memoised with lru_cache; the first call, made for a log line, fills the cache for ever."""

SOURCE = "common mistake"
CAUSE = "captured-outside"
EXPECT = {
    "status": {"words": "none", "shift": "ok"},
    "op": "cached tensor",
    "line_contains": "unit = tf.nn.l2_normalize(WORDS[key], axis=1)",
    "line_any": ["@functools.lru_cache", "table = similarity(", "return tf.matmul(unit, unit, transpose_b=True)"],
}
import functools

import tensorflow as tf

WORDS = {}


@functools.lru_cache(maxsize=None)
def similarity(key):
    unit = tf.nn.l2_normalize(WORDS[key], axis=1)
    return tf.matmul(unit, unit, transpose_b=True)


def plain(key):
    one = tf.nn.l2_normalize(WORDS[key], axis=1)
    return tf.matmul(one, one, transpose_b=True)


def _setup():
    WORDS["demo"] = tf.Variable([[0.3, -0.6], [0.8, 0.1], [0.2, 0.9]], name="words")
    return WORDS["demo"], tf.Variable(0.1, name="shift")


def build():
    words, shift = _setup()
    similarity.cache_clear()
    similarity("demo").numpy()

    def fn():
        table = similarity("demo")
        return tf.reduce_mean(tf.square(table + shift - tf.eye(3)))

    return fn, [words, shift]


def fixed():
    words, shift = _setup()
    plain("demo").numpy()

    def fn():
        return tf.reduce_mean(tf.square(plain("demo") + shift - tf.eye(3)))

    return fn, [words, shift]

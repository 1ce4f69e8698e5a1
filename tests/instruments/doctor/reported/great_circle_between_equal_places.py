"""The great-circle formula has an arcsine and a root on one line; for two equal places the root is taken of zero."""

SOURCE = "keras-team/keras#9097 (same root of zero in a distance)"
CAUSE = "nan-singular-point"
EXPECT = {
    "status": {"lat": "nonfinite", "lon": "nonfinite", "radius": "ok"},
    "op": "Sqrt",
    "line_contains": "return 2.0 * radius * tf.asin(tf.sqrt(h))",
}
import tensorflow as tf

SEEN_LAT, SEEN_LON = tf.constant([0.8, 0.5]), tf.constant([0.1, -0.4])


def haversine(lat, lon, radius):
    h = tf.sin((lat - SEEN_LAT) / 2.0) ** 2 + tf.cos(lat) * tf.cos(SEEN_LAT) * tf.sin((lon - SEEN_LON) / 2.0) ** 2
    return 2.0 * radius * tf.asin(tf.sqrt(h))


def _go(start):
    lat, lon = tf.Variable([0.8, 0.4], name="lat"), tf.Variable([start, 0.2], name="lon")
    radius = tf.Variable(1.5, name="radius")
    return (lambda: tf.reduce_mean(tf.square(haversine(lat, lon, radius) - 0.3))), [lat, lon, radius]


def build():
    return _go(0.1)


def fixed():
    return _go(0.3)

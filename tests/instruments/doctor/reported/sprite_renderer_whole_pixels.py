"""A little renderer samples a texture at coordinates cut to whole pixels; pose gets nothing, texture and light train."""

SOURCE = "kevinzakka/spatial-transformer-network#19"
CAUSE = "int-cast"
EXPECT = {
    "status": {"shift": "none", "zoom": "none", "texture": "ok", "light": "ok"},
    "op": "Cast",
    "line_contains": "cell = tf.cast(tf.clip_by_value(where, 0.0, 6.999), tf.int32)",
}
import tensorflow as tf

GRID = tf.stack(tf.meshgrid(tf.range(5.0), tf.range(5.0), indexing="ij"), axis=-1)
PHOTO = tf.random.stateless_uniform([5, 5], seed=[61, 2])


class Scene(tf.Module):
    def __init__(self):
        super().__init__()
        self.shift = tf.Variable([0.6, 1.3], name="shift")
        self.zoom = tf.Variable(1.1, name="zoom")
        self.texture = tf.Variable(tf.random.stateless_uniform([8, 8], seed=[61, 3]), name="texture")
        self.light = tf.Variable(0.9, name="light")

    def coordinates(self):
        return GRID * self.zoom + self.shift

    def all(self):
        return [self.shift, self.zoom, self.texture, self.light]


def nearest(texture, where):
    cell = tf.cast(tf.clip_by_value(where, 0.0, 6.999), tf.int32)
    return tf.gather_nd(texture, cell)


def bilinear(texture, where):
    where = tf.clip_by_value(where, 0.0, 6.999)
    low = tf.stop_gradient(tf.floor(where))
    part = where - low
    low = tf.cast(low, tf.int32)
    total = 0.0
    for dy in (0, 1):
        for dx in (0, 1):
            wy = part[..., 0] if dy else 1.0 - part[..., 0]
            wx = part[..., 1] if dx else 1.0 - part[..., 1]
            total += wy * wx * tf.gather_nd(texture, low + [dy, dx])
    return total


def _go(sample):
    scene = Scene()

    def fn():
        picture = scene.light * sample(scene.texture.read_value(), scene.coordinates())
        return tf.reduce_mean(tf.square(picture - PHOTO))

    return fn, scene.all()


def build():
    return _go(nearest)


def fixed():
    return _go(bilinear)

"""Three nested tapes ask for the third derivative of a quadratic path, which is zero whatever the coefficient is."""

SOURCE = "common mistake"
CAUSE = "second-order-vanishes"
EXPECT = {
    "status": {"bend": "zero", "wish": "ok"},
    "op": "Pow",
    "line_contains": "path = bend * tf.pow(t, power)",
    "line_any": ["jerk = third.gradient(acceleration, t)", "acceleration = second.gradient(speed, t)"],
}
import tensorflow as tf

TIMES = tf.constant([0.5, 1.0, 1.5])


def _go(power):
    bend, wish = tf.Variable(1.4, name="bend"), tf.Variable(0.8, name="wish")

    def fn():
        t = tf.identity(TIMES)
        with tf.GradientTape() as third:
            third.watch(t)
            with tf.GradientTape() as second:
                second.watch(t)
                with tf.GradientTape() as first:
                    first.watch(t)
                    path = bend * tf.pow(t, power)
                speed = first.gradient(path, t)
            acceleration = second.gradient(speed, t)
        jerk = third.gradient(acceleration, t)
        return tf.reduce_mean(tf.square(jerk - wish))

    return fn, [bend, wish]


def build():
    return _go(2.0)


def fixed():
    return _go(4.0)

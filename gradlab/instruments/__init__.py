"""Tools for looking at gradients in any TensorFlow program."""

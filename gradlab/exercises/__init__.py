"""Exercises: what they are, how they are probed, judged and shown."""

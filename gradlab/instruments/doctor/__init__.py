"""The gradient doctor: why a gradient is None, zero or not finite, and which line to change."""

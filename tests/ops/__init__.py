"""The op suite: one row for each public op, checked against NumPy and SciPy."""

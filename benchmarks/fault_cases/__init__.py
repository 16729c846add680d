"""The faults that `benchmarks/faults.py` makes: each is a function that returns a `Fault` and carries its name."""

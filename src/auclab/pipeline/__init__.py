"""One experiment from its settings to its result: data, split, solve, measure, keep, show."""

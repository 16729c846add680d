"""One split of the data: preprocess, tune, solve, decide, measure, bound."""

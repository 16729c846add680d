"""Programs over a reproducing-kernel space: landmarks, a solve in their span, a bound for the whole space."""

"""Lower bounds from multipliers, in floats; `checker` proves them again in rational arithmetic."""

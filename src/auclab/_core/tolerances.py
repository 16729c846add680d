"""The scale of precision: levels, relative to the size of what is compared, for all that is decided in floats.

A comparison that needs another level says why in a comment.
"""

import math

import numpy as np

#: The relative distance of neighbouring numbers.
EPSILON = float(np.finfo(float).eps)
#: Its root. Where a value is exact to all digits, what it is the minimum of is so to half of them.
HALF_OF_DIGITS = math.sqrt(EPSILON)
#: A bound on the rounding of a few sums and products.
FEW_ROUNDINGS = 64 * EPSILON
#: Smaller numbers lose digits in products, and have inverses that are not finite.
SMALLEST = float(np.finfo(float).tiny) / EPSILON
#: What long sums and factorisations of doubles leave: a smaller difference is rounding.
ROUNDING = 1e-12
#: What a linear system or an iteration leaves that is solved as well as it can be; HiGHS takes no tighter tolerance.
#: This part of its scale is also added to the diagonal of a Hessian: collinear columns leave it singular, and the step
#: has to stay finite.
SOLVED = 1e-10
#: Two sides of a constraint, or two values, that differ by less are taken for equal.
EQUAL = 1e-9
#: The gap of a solve, unless another is wanted. What differs by less in its solution may be noise.
TOLERANCE = 1e-6
#: Below this objective a gap is absolute, in units of it: the objective is a mean of hinges, of order 1 at w = 0.
SMALL_OBJECTIVE = 1e-3
#: Columns are in ordinary units if their sizes are between the inverse of this and this, or differ by no more.
ORDINARY = 1e3

"""The scale of precision: four levels, relative to the size of what is compared, for all that is decided in floats.

A comparison that needs another level says why in a comment.
"""

#: What sums and factorisations of doubles leave: a smaller difference is rounding.
ROUNDING = 1e-12
#: What a linear system or an iteration leaves that is solved as well as it can be; HiGHS takes no tighter tolerance.
SOLVED = 1e-10
#: Two sides of a constraint, or two values, that differ by less are taken for equal.
EQUAL = 1e-9
#: The gap of a solve, unless another is wanted. What differs by less in its solution may be noise.
TOLERANCE = 1e-6
#: What is added to the diagonal of a Hessian, relative to its scale: collinear columns leave it singular, and the step
#: has to stay finite.
RIDGE = 1e-10
#: Steps after which a method that converges in far fewer is stopped.
MOST_STEPS = 100

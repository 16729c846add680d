"""Check a stored certificate in rational arithmetic, with nothing of the solvers: ``python -m auclab.check RUN``."""

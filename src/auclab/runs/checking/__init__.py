"""`auclab check RUN`: a stored certificate is read, its data prepared again, and each claim proved by the checker."""

"""The configuration of an experiment: composed, checked early, read into typed settings and objects."""

"""Situations of the check of a stored run: those of the checker."""

from messages.situations.certificates import *  # noqa: F403 - the expressions of the table use any of them

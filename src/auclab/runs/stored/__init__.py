"""Untrusted input: stored configurations, files of runs, tables with new rows."""

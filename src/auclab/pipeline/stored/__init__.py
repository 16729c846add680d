"""What other people may have written: stored configurations, files of runs, tables with new rows."""

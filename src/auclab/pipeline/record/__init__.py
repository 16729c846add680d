"""What an experiment keeps: files of a run, figures, values and models in tracking."""

"""What an experiment stores: files of a run, figures, values and models in tracking."""

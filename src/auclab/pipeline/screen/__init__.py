"""What an experiment prints."""

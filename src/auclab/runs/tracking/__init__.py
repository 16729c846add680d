"""Records of runs: folders, and MLflow's store into which they are sent. No other package writes to MLflow."""

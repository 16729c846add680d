"""Wu, Flach & Ferri 2007, An improved model selection heuristic for AUC."""

"""Norton & Uryasev 2018, *Maximization of AUC and Buffered AUC in binary classification*."""

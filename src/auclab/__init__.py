"""auclab: maximise and measure AUC and buffered AUC."""

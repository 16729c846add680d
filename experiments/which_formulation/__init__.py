"""Our own question: which formulation ranks best, and how far the best buffered AUC is from the best AUC."""

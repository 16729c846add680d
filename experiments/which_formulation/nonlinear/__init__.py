"""Linear scorers, kernels and boosted trees on many binary sets: protocol, evaluation and pages."""

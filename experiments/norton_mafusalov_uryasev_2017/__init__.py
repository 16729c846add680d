"""Norton, Mafusalov & Uryasev 2017, Soft margin support vector classification as buffered probability minimization."""

"""Replication studies: the claims of five papers, the values that auclab measures, and a verdict on each claim."""

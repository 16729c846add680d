"""Replication studies: what five papers claim and print, what auclab measures, and the verdict on each claim."""

"""Learners as papers of 2008 used them, by the rules of Weka 3.6: trees (J48), naive Bayes, logistic regression.

tests/experiments/test_weka.py compares them with Weka itself where Java and Weka are installed; nothing but
`experiments.learners.weka` needs them.
"""

from experiments.learners.j48 import J48
from experiments.learners.logistic import logistic_scores
from experiments.learners.naive_bayes import NaiveBayes
from experiments.learners.table import Floats, Integers, Mask, Table, fill, read_table

__all__ = ["J48", "Floats", "Integers", "Mask", "NaiveBayes", "Table", "fill", "logistic_scores", "read_table"]

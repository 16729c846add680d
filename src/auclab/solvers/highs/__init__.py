"""Linear programs and the exact AUC in HiGHS."""

"""Programs with integers, solved by branch and bound over linear programs of cuts: few features, whole points."""

"""Parameters with which one cannot calculate are refused in words, where the program is made."""

import pytest

from auclab import CSVM, ECSVM, AuclabError, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM

MAKERS = {
    "ranksvm": RankSVM,
    "csvm": CSVM,
    "partial_auc": lambda penalty: PartialAUC(0.5, penalty),
    "generalized_bauc": lambda z: GeneralizedBufferedAUC(-z),
    "ecsvm": ECSVM,
    "exact_auc": ExactAUC,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("value", "words"), [(1e-151, "too near 0"), (5e-324, "too near 0"), (2e150, "too large")])
def test_parameters_beyond_their_range_are_refused(name, value, words):
    with pytest.raises(AuclabError, match=words):
        MAKERS[name](value)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", [1e-150, 1e150])
def test_the_ends_of_the_range_are_taken(name, value):
    MAKERS[name](value)

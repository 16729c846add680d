"""What a study prints at its end: each claim of the paper with what was measured, and the verdict."""

import math

from experiments.study import AS_PUBLISHED, CORRECTED, Row
from experiments.verdicts import claims, counted, judge


def test_a_claim_has_the_row_that_its_verdict_is_about():
    rows = [
        Row("example25", 0.80685282),
        Row("lemma23", 4.9922482, variant=AS_PUBLISHED),
        Row("lemma23", 0.93886884, variant=CORRECTED),
        Row("table1.baseline.auroc", 51.0),
        Row("not a claim", 1.0),
    ]
    judged = {each.claim.claim_id: each for each in judge("ratigan_cowen", rows)}
    assert set(judged) == {"example25", "lemma23", "table1.baseline.auroc"}
    assert judged["example25"].cells == ("example25", "0.807", "0.806853", "0.0005", "reproduced")
    assert judged["lemma23"].cells[2:] == ("0.938869", "5e-07", "print wrong, correction confirmed: R1")
    assert judged["table1.baseline.auroc"].cells[-1] == "differs"
    assert counted(list(judged.values())) == "1 reproduced · 1 print wrong, correction confirmed · 1 differs"


def test_several_seeds_have_a_standard_error():
    claim = next(each for each in claims("norton_uryasev_2018") if each.rule == "mean" and not math.isnan(each.value))
    rows = [Row(claim.claim_id, claim.value + step, seed) for seed, step in enumerate((-0.1, 0.1))]
    (judged,) = judge("norton_uryasev_2018", rows)
    assert judged.cells[2] == f"{claim.value:.6g} ± 0.1"

"""Random programs of every kind on nasty and on ordinary samples: no false certificate, no crash.

`AUCLAB_FUZZ=1000` is for the nightly run. Hangs are the business of the command,
`python -m tests.fuzz.programs`, which can kill a solve.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.nasty import cases
from fuzz.programs import SOLVERS, answer, verdicts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nasty", "random"])
@settings(
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_no_answer_is_wrong(kind, data):
    case = data.draw(cases(kind))
    solvers = ("auto", data.draw(st.sampled_from(SOLVERS[1:])))
    answers = [answer(case, solver) for solver in solvers]
    wrong = [(a, v) for a, v in zip(answers, verdicts(case, answers, seconds=2.0), strict=True) if v.defects]
    assert not wrong

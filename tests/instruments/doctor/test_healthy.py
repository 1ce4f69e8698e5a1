"""Healthy programs: not one alarm, and nothing in them changes, not by a bit."""

import pytest
import tensorflow as tf

from gradlab import doctor
from tests.instruments.doctor.programs import PROGRAMS, trace


@pytest.fixture
def eagerly():
    """Compiled functions run operation by operation, as under the doctor."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_healthy_program_raises_no_alarm_and_computes_the_same(name, eagerly):
    before = trace(PROGRAMS[name])
    with doctor() as visit:
        under = trace(PROGRAMS[name])
    after = trace(PROGRAMS[name])
    assert visit.calls > 0
    assert visit.findings
    assert [finding for finding in visit.findings if not finding.ok] == []
    assert visit.ok
    assert under == before
    assert after == before

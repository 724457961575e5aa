from __future__ import annotations

from carob.api.pace import Pace


def test_time_left_is_by_the_pace_since_the_step_began():
    times = iter([100.0, 102.0, 106.0])
    pace = Pace(lambda: next(times))
    assert pace.seconds_left(40, 100) is None  # an earlier attempt did those
    assert pace.seconds_left(50, 100) == 10.0
    assert pace.seconds_left(70, 100) == 6.0


def test_nothing_is_left_of_a_step_that_is_done():
    assert Pace().seconds_left(3, 3) == 0.0

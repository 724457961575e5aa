from __future__ import annotations

from carob.datasets.formats.spelling import respelt


def test_known_keys_get_their_usual_spelling_and_others_keep_theirs():
    assert respelt({"caseId": 1, "ownKey": 2}, ("case_id",)) == {"case_id": 1, "ownKey": 2}


def test_the_usual_spelling_wins_wherever_it_stands():
    assert respelt({"caseId": 1, "case_id": 2}, ("case_id",)) == {"case_id": 2}
    assert respelt({"case_id": 2, "caseId": 1}, ("case_id",)) == {"case_id": 2}

from __future__ import annotations

from pathlib import Path

import pytest

from carob.datasets import labels as module
from carob.datasets.labels import labels_for_metric, read_labels
from carob.errors import CarobError, InputError
from carob.schema import LabelValue


def write_labels(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_table_with_all_columns_is_read(tmp_path: Path):
    text = 'case,label,trace,metric,by,note\na,4,t-1,tone,ida,"dry, but fine"\n\nb,2.5,,,,\n'
    label, second = read_labels(write_labels(tmp_path, text))
    assert (label.case, label.label, label.trace, label.metric) == ("a", 4.0, "t-1", "tone")
    assert (label.by, label.note) == ("ida", "dry, but fine")
    assert label.where.endswith("labels.csv line 2")
    assert (second.case, second.label, second.trace, second.by) == ("b", 2.5, None, None)
    assert second.where.endswith("labels.csv line 4")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "\ufeffCase, Label ,question\na,pass,Where is it?\nb,fail,Why?\n"),
        ("l.jsonl", '{"case": "a", "label": true}\n\n{"case": "b", "label": "No"}\n'),
        ("l.json", '[\n {"case": "a", "label": "VALID"},\n {"case": "b", "label": false}\n]'),
    ],
)
def test_labels_are_the_same_in_every_format(tmp_path: Path, name: str, text: str):
    labels = read_labels(write_labels(tmp_path, text, name))
    assert [(label.case, label.label) for label in labels] == [("a", "passed"), ("b", "failed")]
    assert [label.where.rpartition(" ")[2] for label in labels] in (["2", "3"], ["1", "3"])


@pytest.mark.parametrize(
    ("text", "opinion"),
    [
        *[(word, "passed") for word in ("pass", "PASSED", "Yes", "true", " valid ")],
        *[(word, "failed") for word in ("fail", "Failed", "NO", "False", "invalid")],
        *[("3", 3.0), ("-1.5", -1.5), ("1e1", 10.0)],
    ],
)
def test_verdicts_and_numbers_are_read(tmp_path: Path, text: str, opinion: LabelValue):
    assert read_labels(write_labels(tmp_path, f"case,label\na,{text}\n"))[0].label == opinion


def test_id_may_look_like_a_number(tmp_path: Path):
    assert read_labels(write_labels(tmp_path, '{"case": 7, "label": 4}', "l.json"))[0].case == "7"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("case,label\na,good\n", "line 2: label: expected a number, or one of", None),
        ("case,label\na,nan\n", "line 2: label: expected a number", None),
        ("case,label\na,inf\n", "line 2: label: expected a number", None),
        ("case,label\na,4\nb,\n", "line 3: missing label", "remove rows that are not labeled yet"),
        ("case,label\n,4\n", "line 2: missing case", "the id of the golden case"),
        ("case,label\na,4,5\n", "line 2: 3 cells, expected 2 as in the header", "quote cells"),
        ("case,verdict\na,4\n", ": missing column 'label', got 'case, verdict'", "case and label"),
        ("case|label\na|4\n", ": missing column 'case', got 'case|label'", "by commas"),
        ("case,lable\na,4\n", ": unknown column or key 'lable'", "did you mean 'label'?"),
        ("case,label,Label\na,4,4\n", ": duplicate column or key 'label'", None),
        ("case,label\n", ": no labels", "case and label"),
        ("", ": the file is empty", None),
        (
            "case,label,by\na,4,ida\na,5,ida\n",
            "line 3: duplicate label of case 'a' by 'ida'",
            "remove one",
        ),
    ],
)
def test_mistake_in_a_table_is_reported_with_its_line(
    tmp_path: Path, text: str, message: str, hint: str | None
):
    with pytest.raises(InputError) as caught:
        read_labels(write_labels(tmp_path, text))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"case": "a", "label": 4},\n"b"]', "line 2: expected an object, got 'b'"),
        ('[{"case": "a", "label": [4]}]', "line 1: label: expected a number"),
        ('[{"case": "a", "label": null}]', "line 1: missing label"),
        ('[{"case": "a", "label": 4, "note": {}}]', "line 1: note: expected a string, got {}"),
        ('[{"case": true, "label": 4}]', "line 1: case: expected a string, got True"),
        ('[{"case": "a", "label": 4, "metrik": "x"}]', "line 1: unknown column or key 'metrik'"),
        ('{"case": "a", "label": 4}\n{"case": "a", "label": }\n', "line 2"),
        ("[]", ": no labels"),
        ('[{"case": "a", "label": NaN}]', "not JSON"),
    ],
)
def test_mistake_in_json_is_reported_with_its_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(InputError) as caught:
        read_labels(write_labels(tmp_path, text, "labels.json"))
    assert message in str(caught.value)


def test_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_labels(tmp_path / "labels.csv")


def test_too_many_labels_and_too_long_texts_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(CarobError, match="note: 30,000 characters, expected at most 20,000"):
        read_labels(write_labels(tmp_path, f"case,label,note\na,4,{'x' * 30_000}\n"))
    header = ",".join(f"c{n}" for n in range(300))
    with pytest.raises(CarobError, match="302 columns or keys, expected at most 200"):
        read_labels(write_labels(tmp_path, f"case,label,{header}\na,4{',' * 300}\n"))
    monkeypatch.setattr(module, "_MAX_LABELS", 2)
    for name, text in (
        ("l.csv", "case,label\na,4\nb,4\nc,4\n"),
        ("l.json", '[{"case":"a","label":4},{"case":"b","label":4},{"case":"c","label":4}]'),
    ):
        with pytest.raises(CarobError, match="more than 2 labels"):
            read_labels(write_labels(tmp_path, text, name))


def test_several_people_may_label_an_answer_and_may_be_anonymous(tmp_path: Path):
    text = "case,label,by\na,4,ida\na,5,jon\na,5,\na,5,\n"
    assert len(read_labels(write_labels(tmp_path, text))) == 4


def test_labels_without_a_metric_apply_to_every_metric(tmp_path: Path):
    labels = read_labels(write_labels(tmp_path, "case,label,metric\na,4,tone\nb,4,\nc,4,clarity\n"))
    selected = labels_for_metric(labels, "tone")
    assert [(label.case, label.metric) for label in selected] == [("a", "tone"), ("b", "tone")]

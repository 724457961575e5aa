from __future__ import annotations

from collections.abc import Mapping

import msgspec

from carob.schema import Case
from carob.synth.generate import RELATIONS, Generator, Synthesis
from tests.synth.shop import FERN, ROSE, SOIL, order_case, world


def generate(
    *cases: Case,
    relations: tuple[str, ...] = tuple(RELATIONS),
    per_case: int = 3,
    seed: int = 0,
    quotas: Mapping[str, int] | None = None,
) -> Synthesis:
    return Generator(
        world=world(*cases),
        relations=[RELATIONS[name] for name in relations],
        per_case=per_case,
        seed=seed,
        quotas=quotas or {},
    ).run()


def test_the_same_seed_gives_the_same_cases():
    assert generate(seed=4) == generate(seed=4)
    assert generate(seed=4).cases != generate(seed=5).cases


def test_ids_are_unique_and_inputs_are_new():
    cases = [FERN, ROSE, SOIL, *generate().cases]
    assert len({case.id for case in cases}) == len(cases)
    inputs = [
        (case.context, [(turn.user, turn.tool_results) for turn in case.turns]) for case in cases
    ]
    encoded = {msgspec.json.encode(item) for item in inputs}
    assert len(encoded) == len(inputs)


def test_every_relation_makes_cases_with_their_lineage():
    context = Case.of(
        "Do you ship?", "Yes.", id="ship", context="The shop is for members.\n\nWe ship on Mondays."
    )
    split = order_case(
        "split", "I ordered ferns. The order is GS-5000. Where is it?", order_id="GS-5000"
    )
    cases = generate(FERN, ROSE, SOIL, context, split).cases
    assert {str(case.metadata["relation"]) for case in cases} == {*RELATIONS}
    for case in cases:
        relation = RELATIONS[str(case.metadata["relation"])]
        assert case.metadata["source"] == "synthetic"
        assert case.metadata["generator"] == f"carob.synth.{relation.name}@1"
        assert case.metadata["holds"] == relation.holds
        assert case.metadata["review_status"] == "draft"
        assert str(case.id).startswith(str(case.metadata["parent"]))


def test_a_review_of_the_parent_does_not_count_for_its_variants():
    metadata = {"reviewed_by": "Lena", "review_status": "approved", "level": "high"}
    (case,) = generate(
        msgspec.structs.replace(SOIL, metadata=metadata), relations=("casing",), per_case=1
    ).cases
    assert case.metadata["review_status"] == "draft"
    assert "reviewed_by" not in case.metadata
    assert case.metadata["level"] == "high"


def test_variants_are_not_varied_again():
    first = generate(SOIL, relations=("filler",)).cases
    assert (
        generate(SOIL, *first, relations=("casing",), per_case=1).cases[0].metadata["parent"]
        == "soil"
    )
    assert len(generate(SOIL, *first, relations=("casing",), per_case=1).cases) == 1


def test_a_quota_limits_a_property_and_is_reported():
    result = generate(relations=("filler", "distractor"), quotas={"tool:find_order": 2})
    (row,) = (row for row in result.coverage if row.value == "find_order")
    assert (row.source, row.synthetic, row.quota) == (2, 2, 2)
    assert result.skipped["quota"] > 0


def test_a_call_with_invalid_arguments_is_not_kept():
    short = order_case("short", "Where is my order G-1?", order_id="G-1")
    result = generate(FERN, short, relations=("changed_slot",), per_case=1)
    assert [case.metadata["parent"] for case in result.cases] == ["short"]
    assert result.skipped["invalid arguments"] > 0


def test_variants_contain_no_new_personal_data():
    mail = order_case("mail", "Where is the order of ada@flowers.net?", order_id="ada@flowers.net")
    result = generate(FERN, mail, relations=("changed_slot",), per_case=1)
    assert "personal data" in result.skipped
    assert all(
        "ada@" not in str(case.turns) or case.metadata["parent"] == "mail" for case in result.cases
    )

"""Rules: the presets, the text form, and errors that name the option."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import PRESETS, Covered, Goal, Rules, RulesError

RULES = st.builds(
    Rules,
    passes=st.none() | st.integers(1, 999_999_999),
    goal=st.sampled_from(Goal),
    covered=st.sampled_from(Covered),
    stock_playable=st.booleans(),
    overlap=st.booleans(),
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cards4", "passes=1,goal=pyramid,covered=face_down,stock_playable=no,overlap=no"),
        ("three-pass", "passes=3,goal=pyramid,covered=face_up,stock_playable=no,overlap=no"),
        ("relaxed", "passes=1,goal=pyramid,covered=face_up,stock_playable=yes,overlap=no"),
        ("classic", "passes=1,goal=deck,covered=face_up,stock_playable=yes,overlap=no"),
        ("collection", "passes=3,goal=pyramid,covered=face_up,stock_playable=yes,overlap=no"),
        ("overlap", "passes=1,goal=pyramid,covered=face_up,stock_playable=yes,overlap=yes"),
    ],
)
def test_presets(name: str, text: str) -> None:
    assert str(PRESETS[name]) == text
    assert Rules.parse(name) == Rules.parse(text) == PRESETS[name]
    assert PRESETS[name].preset == name


def test_there_are_six_presets_and_they_cannot_be_changed() -> None:
    assert len(PRESETS) == 6
    with pytest.raises(TypeError):
        PRESETS["mine"] = Rules()  # type: ignore[index]


@given(RULES)
def test_rules_are_read_back_from_their_text(rules: Rules) -> None:
    assert Rules.parse(str(rules)) == rules


def test_what_is_not_given_is_as_in_three_pass_or_in_the_preset_named() -> None:
    assert Rules.parse("goal=deck") == Rules(passes=3, goal=Goal.DECK)
    assert Rules.parse("cards4, passes = unlimited") == Rules(
        passes=None, covered=Covered.FACE_DOWN
    )
    assert Rules.parse("overlap,overlap=no") == PRESETS["relaxed"]
    assert Rules.parse("passes=7").preset is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not an option"),
        ("easy", "'easy' is not a preset: take one of three-pass, cards4"),
        ("passes=0", "passes is 1, 2, 3"),
        ("passes=-1", "passes is 1, 2, 3, … or unlimited, not '-1'"),
        ("passes=two", "passes is 1, 2, 3, … or unlimited, not 'two'"),
        ("passes=³", "passes is 1, 2, 3"),
        ("passes=9999999999", "passes is 1, 2, 3"),
        ("goal=waste", "goal is pyramid or deck, not 'waste'"),
        ("covered=no", "covered is face_up or face_down, not 'no'"),
        ("stock_playable=true", "stock_playable is no or yes, not 'true'"),
        ("overlap=", "overlap is no or yes, not ''"),
        ("passes=3,deck=goal", "'deck=goal' is not an option: take passes=…"),
        ("passes", "is not a preset"),
        ("goal=deck,cards4", "'cards4' is not an option"),
        ("passes=3,", "'' is not an option"),
        ("goal=deck,goal=deck", "goal is given twice"),
    ],
)
def test_errors_name_the_option_and_what_it_may_be(text: str, reason: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.parse(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize("passes", [0, -3, True, 2.0, "3"])
def test_rules_with_impossible_passes_cannot_be_made(passes: object) -> None:
    with pytest.raises(RulesError, match="passes is 1, 2, 3"):
        Rules(passes=passes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"stock_playable": "no"}, {"overlap": 1}, {"goal": "deck"}, {"covered": None}]
)
def test_options_of_the_wrong_type_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(RulesError, match=next(iter(options))):
        Rules(**options)


# -- which rules include which ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wide", "narrow", "both_ways"),
    [
        ("three-pass", "cards4", False),
        ("cards4", "cards4,covered=face_up", True),
        ("passes=unlimited", "three-pass", False),
        ("collection", "three-pass", False),
        ("collection", "relaxed", False),
        ("overlap", "relaxed", False),
        ("relaxed", "classic", False),
    ],
)
def test_wider_rules_include_narrower_ones(wide: str, narrow: str, both_ways: bool) -> None:
    assert Rules.parse(wide).include(Rules.parse(narrow))
    assert Rules.parse(narrow).include(Rules.parse(wide)) is both_ways


@pytest.mark.parametrize(
    ("one", "other"), [("overlap", "collection"), ("classic,overlap=yes", "relaxed")]
)
def test_rules_that_are_wider_in_one_way_and_narrower_in_another(one: str, other: str) -> None:
    assert not Rules.parse(one).include(Rules.parse(other))
    assert not Rules.parse(other).include(Rules.parse(one))

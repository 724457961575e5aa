from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from carob.report.markup import Markup, join, tag


class _Reader(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_texts_are_escaped_and_markup_is_not():
    assert tag("p", "a < b", tag("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"


def test_attribute_names_are_translated_and_none_is_omitted():
    markup = tag("input", class_="x", aria_label='say "hi"', hidden=True, checked=False, id=None)
    assert markup == '<input class="x" aria-label="say &quot;hi&quot;" hidden>'


def test_pieces_may_be_nested():
    assert join(["a", None, [1, ["<"]], Markup("<br>")]) == "a1&lt;<br>"


def test_control_characters_and_surrogates_are_shown_as_codes():
    assert join("a\x00b\u202ec\ud800") == "a\\x00b\\u202ec\ufffd"
    assert tag("a", title="\x1b[31m") == '<a title="\\x1b[31m"></a>'


@given(st.text(), st.text())
def test_no_text_opens_an_element_or_leaves_its_attribute(text: str, value: str):
    reader = _Reader(tag("p", text, title=value))
    assert [name for name, _ in reader.elements] == ["p"]
    assert list(reader.elements[0][1]) == ["title"]

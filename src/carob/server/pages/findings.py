"""What lint finds in a dataset: personal data, secrets, duplicates, contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from carob.api.golden.folder import find_file
from carob.api.lint import lint, lint_rules
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Finding
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, rows_table
from carob.server.workspace import Workspace

pages = Pages()
_MAX_FINDINGS = 1000


class FindingsPath(Query, frozen=True):
    """A dataset."""

    name: str


@pages.get("/datasets/{name:path}/findings")
def show_findings(workspace: Workspace, path: FindingsPath) -> Page:
    """Show what lint finds in the draft."""
    file = find_file(workspace.folder, path.name)
    (linted,) = lint(file)
    names = _rule_names()
    summary = summarise_findings(linted.findings)
    rows = [_row(path.name, finding, names) for finding in linted.findings[:_MAX_FINDINGS]]
    head: list[Child] = ["level", "rule", "case", "finding", "hint"]
    left = len(linted.findings) - _MAX_FINDINGS
    return Page(
        title=f"Findings in {path.name}",
        section="Datasets",
        crumbs=(
            ("Datasets", "/datasets"),
            (path.name, address("datasets", path.name)),
            ("Findings", ""),
        ),
        content=[
            tag("h1", count(len(linted.findings), "finding") if rows else "No findings"),
            tag("p", summary or f"{count(linted.cases, 'case')} checked.", class_="lead"),
            rows_table("Findings", head, rows, "list") if rows else None,
            tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None,
        ],
        command=("lint", str(file)),
        keys=(("j k", "move"), ("enter", "open")),
    )


def summarise_findings(findings: Sequence[Finding]) -> str:
    """Say how many findings there are of each rule, the most frequent first."""
    names = _rule_names()
    counts = Counter(names.get(finding.rule, finding.rule) for finding in findings)
    return " · ".join(f"{number:,} {name}" for name, number in counts.most_common())


def _rule_names() -> dict[str, str]:
    return {rule.id: rule.name for rule in lint_rules()}


def _row(name: str, finding: Finding, names: dict[str, str]) -> Markup:
    case = finding.case
    link = (
        tag("a", case, href=address("datasets", name, "cases", case, "edit"))
        if case
        else "(dataset)"
    )
    level = {"error": "failed", "warning": "flaky"}.get(finding.level, "quiet")
    return tag(
        "tr",
        tag("td", finding.level, class_=level),
        tag("td", names.get(finding.rule, finding.rule), class_="nowrap"),
        tag("th", link, scope="row", dir="auto"),
        tag("td", finding.message, class_="wrap", dir="auto"),
        tag("td", finding.hint or "", class_="wrap quiet"),
    )

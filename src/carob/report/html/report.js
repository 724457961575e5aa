"use strict";
// With at most this many matches all rows are laid out, so that hidden rows leave no gaps.
const FEW = 400;
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const chunks = [...document.querySelectorAll(".chunk")];
  const cases = [...document.querySelectorAll(".cases tbody")];
  const boxes = [...form.querySelectorAll("[name=status]")];
  const metric = form.querySelector("select");
  const search = form.querySelector("[type=search]");
  const shown = form.querySelector("output");
  let texts = null;

  function text(index) {
    texts ??= cases.map((row) => row.textContent.toLowerCase());
    return texts[index];
  }

  function matches(row, index, statuses, words) {
    return (
      statuses.has(row.dataset.status) &&
      (!metric.value || (row.dataset.metrics || "").split(" ").includes(metric.value)) &&
      words.every((word) => text(index).includes(word))
    );
  }

  function filter() {
    const statuses = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    cases.forEach((row, index) => {
      const match = matches(row, index, statuses, words);
      if (row.hidden === match) row.hidden = !match;
      number += match;
    });
    for (const chunk of chunks) chunk.hidden = !chunk.querySelector("tbody:not([hidden])");
    document.getElementById("cases").classList.toggle("few", number <= FEW);
    shown.value = `${number.toLocaleString("en")} of ${cases.length.toLocaleString("en")} cases`;
  }

  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || !target.matches(".cases tbody")) return;
    if (target.hidden) {
      form.reset();
      filter();
    }
    const details = target.querySelector("details");
    if (details) details.open = true;
    target.scrollIntoView();
  }

  function onKey(event) {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search && search.value) {
      search.value = "";
      filter();
    }
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", openTarget);
  filter();
  openTarget();
})();

// Selected rows of a large table: they stay selected while rows are dropped from the window, while
// filters change, and until the tab is closed. What is selected is sent with the form.
import { show, speak } from "./speak.js";

const STORED = `carob-selected:${location.pathname}`;
const chosen = new Map();
let last = null;

const form = () => document.querySelector("form[data-selection]:has(.selection)");
const boxes = () => [...(form()?.querySelectorAll("tbody input[type=checkbox]") ?? [])];
const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

// The command for the selected cases; nothing if none is selected, or none can be run again.
export function selectedCommand() {
  const command = form()?.querySelector("[data-command]")?.dataset.command;
  if (!command || !chosen.size) return null;
  return `${command} ${[...new Set(chosen.values())].map((name) => `--case ${quote(name)}`).join(" ")}`;
}

function describe() {
  const bar = form().querySelector(".selection");
  const text = chosen.size ? `${chosen.size} selected` : bar.querySelector("[data-none]").dataset.none;
  bar.querySelector("[data-none]").textContent = text;
  for (const button of bar.querySelectorAll("[data-copy], [data-clear]")) button.hidden = !chosen.size;
  return text;
}

function store() {
  if (form().dataset.selection === "stored") sessionStorage.setItem(STORED, JSON.stringify([...chosen]));
  speak(describe(), true);
}

function restore() {
  if (!form()) return;
  for (const box of boxes()) box.checked = chosen.has(box.value);
  describe();
}

function onChange(event) {
  if (!event.target.closest("form[data-selection] table")) return;
  for (const box of boxes()) {
    if (box.checked) chosen.set(box.value, box.ariaLabel.slice("select ".length));
    else chosen.delete(box.value);
  }
  store();
}

// A click with shift selects all rows from the last one that was clicked.
function onClick(event) {
  const { target } = event;
  if (target.matches("form[data-selection] tbody input[type=checkbox]")) {
    const all = boxes();
    const [start, end] = [all.indexOf(last), all.indexOf(target)].sort((a, b) => a - b);
    if (event.shiftKey && start >= 0) for (const box of all.slice(start, end + 1)) box.checked = target.checked;
    last = target;
  } else if (target.closest("[data-clear]")) {
    chosen.clear();
    restore();
    store();
  } else if (target.closest("[data-copy]")) copySelected();
}

export function copySelected() {
  const command = selectedCommand();
  if (command) navigator.clipboard?.writeText(command).then(() => show(`command copied: ${command}`));
  return Boolean(command);
}

function onSubmit(event) {
  if (event.target !== form()) return;
  for (const field of form().querySelectorAll("input[data-hidden-row]")) field.remove();
  const present = new Set(boxes().map((box) => box.value));
  for (const value of chosen.keys()) {
    if (present.has(value)) continue;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: boxes()[0].name, value });
    field.dataset.hiddenRow = "1";
    form().append(field);
  }
}

export function watchSelection() {
  // Only where rows never change: what is stored may be older than the page.
  const stored = form()?.dataset.selection === "stored" ? sessionStorage.getItem(STORED) : null;
  for (const [value, name] of JSON.parse(stored ?? "[]")) chosen.set(value, name);
  restore();
  document.addEventListener("change", onChange);
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  for (const name of ["carob:replaced", "carob:rows"]) document.addEventListener(name, restore);
}

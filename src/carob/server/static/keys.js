// Keys. An element with `data-key` is clicked (a field: focused) by that key; a row of a list acts
// on `data-row-key`. Single keys are off in fields and can be switched off (WCAG 2.1.4).
import { copySelected } from "./selection.js";
import { show } from "./speak.js";

const OFF = "carob-keys-off";
const PREFIX_PAUSE = 700;
const GO = { h: "/", r: "/runs", d: "/datasets", v: "/review", l: "/live", m: "/metrics", u: "/upload", s: "/settings" };
let prefix = null;

function rows() {
  return [...document.querySelectorAll("table.list tbody tr:not(.gap), .list > article")].filter((row) => row.checkVisibility());
}

function currentRow() {
  return document.querySelector(".current") ?? document.activeElement?.closest("table.list tbody tr, .list > article");
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.indexOf(currentRow());
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  document.querySelector(".current")?.classList.remove("current");
  next.classList.add("current");
  next.scrollIntoView({ block: "nearest" });
  next.querySelector("a")?.focus({ preventScroll: true });
}

function press(element) {
  if (!element?.checkVisibility()) return false;
  if (element.matches("input:not([type=checkbox]), select, textarea")) element.focus();
  else element.click();
  return true;
}

function copy(text, name) {
  navigator.clipboard?.writeText(text).then(() => show(`${name} copied: ${text}`));
}

function nextTab() {
  const tabs = [...document.querySelectorAll(".tabs a")];
  const at = tabs.findIndex((tab) => tab.hasAttribute("aria-current"));
  press(tabs[(at + 1) % tabs.length]);
}

function fold() {
  const all = [...document.querySelectorAll("main details")];
  const open = !all.some((item) => item.open);
  for (const item of all) item.open = open;
}

function failedOnly() {
  if (!document.querySelector("select[name=status]")) return;
  const address = new URL(location.href);
  if (address.searchParams.get("status") === "failed") address.searchParams.delete("status");
  else address.searchParams.set("status", "failed");
  address.searchParams.delete("page");
  location.href = address.href;
}

function openScript() {
  const link = currentRow()?.closest("table.cases") && currentRow().querySelector("a");
  if (link) location.href = `${link.href}#script`;
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x: () => press(currentRow()?.querySelector("input[type=checkbox]")),
  "/": () => press(document.querySelector("input[type=search]") ?? null) || (location.href = "/runs?focus=1"),
  "?": () => document.getElementById("keys").showModal(),
  "[": () => press(document.querySelector("main [rel=prev]")),
  "]": () => press(document.querySelector("main [rel=next]")),
  ArrowLeft: () => document.querySelector("[data-arrows]") && press(document.querySelector("main [rel=prev]")),
  ArrowRight: () => document.querySelector("[data-arrows]") && press(document.querySelector("main [rel=next]")),
  t: nextTab,
  z: fold,
  f: failedOnly,
  a: openScript,
  y: () => copy(location.href, "link"),
  Y: () => copySelected() || document.body.dataset.command && copy(document.body.dataset.command, "command"),
  Enter: () => document.activeElement === document.body && press(currentRow()?.querySelector("a")),
  Escape: () => press([...document.querySelectorAll(".crumbs a")].at(-1)),
};

function act(key) {
  const own = currentRow()?.querySelector(`[data-row-key="${CSS.escape(key)}"]`);
  return press(own ?? document.querySelector(`[data-key="${CSS.escape(key)}"]`));
}

function startPrefix() {
  prefix = setTimeout(() => {
    prefix = null;
    act("g");
  }, PREFIX_PAUSE);
}

function onKey(event) {
  const field = event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
  if (field && event.key === "Escape") field.blur();
  if (field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (localStorage.getItem(OFF) && event.key.length === 1) return;
  if (prefix) {
    clearTimeout(prefix);
    prefix = null;
    if (GO[event.key]) {
      event.preventDefault();
      location.href = GO[event.key];
      return;
    }
  }
  if (event.key === "g") {
    event.preventDefault();
    startPrefix();
    return;
  }
  // A key that is held down does not act again: what it does on the next page may be final.
  if (event.key.length === 1 && !event.repeat && act(event.key)) event.preventDefault();
  else if (KEYS[event.key]) {
    if (event.key.length === 1) event.preventDefault();
    KEYS[event.key]();
  }
}

export function watchKeys() {
  document.addEventListener("keydown", onKey);
  const button = document.getElementById("keys-switch");
  const name = () => {
    button.textContent = localStorage.getItem(OFF) ? "Switch single keys on" : "Switch single keys off";
  };
  button.addEventListener("click", () => {
    if (localStorage.getItem(OFF)) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
    name();
  });
  name();
  for (const opener of document.querySelectorAll("[data-opens]")) {
    opener.hidden = false;
    opener.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById(opener.dataset.opens).showModal();
    });
  }
}

// Keys for pages that work without them. Single keys can be switched off (WCAG 2.1.4).
const OFF = "carob-keys-off";
const go = { h: "/", r: "/runs", d: "/datasets", l: "/live", m: "/metrics", u: "/upload", s: "/settings" };
const rows = [...document.querySelectorAll("table.list tbody tr")];
let current = -1;
let waiting = false;

function say(text) {
  document.getElementById("said").textContent = text;
}

function move(step) {
  if (!rows.length) return;
  rows[current]?.classList.remove("current");
  current = Math.min(Math.max(current + step, 0), rows.length - 1);
  rows[current].classList.add("current");
  rows[current].scrollIntoView({ block: "nearest" });
  rows[current].querySelector("a")?.focus({ preventScroll: true });
}

function follow(selector) {
  document.querySelector(selector)?.click();
}

function copy(text, name) {
  navigator.clipboard?.writeText(text).then(() => say(`${name} copied`));
}

function nextTab() {
  const tabs = [...document.querySelectorAll(".tabs a")];
  const at = tabs.findIndex((tab) => tab.hasAttribute("aria-current"));
  tabs[(at + 1) % tabs.length]?.click();
}

function failedOnly() {
  const address = new URL(location.href);
  if (address.searchParams.get("status") === "failed") address.searchParams.delete("status");
  else address.searchParams.set("status", "failed");
  location.href = address.href;
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => document.getElementById("search")?.focus(),
  "?": () => document.getElementById("keys").scrollIntoView(),
  "[": () => follow("[rel=prev]"),
  "]": () => follow("main [rel=next]"),
  c: () => follow("#compare"),
  t: nextTab,
  y: () => copy(location.href, "link"),
  Y: () => document.body.dataset.command && copy(document.body.dataset.command, "command"),
  f: () => document.getElementById("cases") && failedOnly(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(OFF)) return;
  if (waiting && go[event.key]) {
    location.href = go[event.key];
    return;
  }
  waiting = false;
  if (event.key === "g") {
    const golden = document.getElementById("make-golden");
    if (golden) golden.click();
    else waiting = true;
    return;
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const button = document.getElementById("keys-switch");
function name() {
  button.textContent = localStorage.getItem(OFF) ? "switch single keys on" : "switch single keys off";
}
button.hidden = false;
button.addEventListener("click", () => {
  if (localStorage.getItem(OFF)) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
  name();
});
name();

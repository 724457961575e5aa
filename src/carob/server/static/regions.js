// Replaces parts of this page by the same parts of another answer of the server.
const parser = new DOMParser();

// A document of the parser runs no scripts, and the server escapes all text.
export function parse(text) {
  return parser.parseFromString(text, "text/html");
}

export async function load(address, signal) {
  const answer = await fetch(address, { signal, headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return parse(await answer.text());
}

// Without `always`, a region that looks the same stays as it is.
export function replace(id, source, always = false) {
  const old = document.getElementById(id);
  const fresh = source.getElementById(id);
  if (!old || !fresh || (!always && old.innerHTML === fresh.innerHTML)) return false;
  const known = new Set([...old.querySelectorAll("[data-id]")].map((row) => row.dataset.id));
  const checked = new Set([...old.querySelectorAll("input:checked")].map((box) => box.value));
  const current = old.querySelector(".current")?.dataset.id;
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  old.replaceChildren(...document.adoptNode(fresh).childNodes);
  for (const row of old.querySelectorAll("[data-id]")) {
    if (!known.has(row.dataset.id)) row.classList.add("fresh");
    if (row.dataset.id === current) row.classList.add("current");
  }
  for (const box of old.querySelectorAll("input[type=checkbox]")) box.checked = checked.has(box.value);
  if (focused) old.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("carob:replaced", { detail: old }));
  return true;
}

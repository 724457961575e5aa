// Filters apply as they are typed: the server filters, and its answer replaces the results.
import { load, replace } from "./regions.js";
import { speak } from "./speak.js";

const PAUSE = 120;

function address(form, action) {
  const url = new URL(action, location.href);
  for (const [name, value] of new FormData(form)) if (value) url.searchParams.append(name, value);
  return url.href;
}

function watch(form) {
  const region = form.dataset.region;
  let timer = null;
  let running = null;
  const apply = async () => {
    running?.abort();
    running = new AbortController();
    const target = address(form, form.action);
    try {
      const page = await load(address(form, form.dataset.source ?? form.action), running.signal);
      history.replaceState(null, "", target);
      if (!replace(region, page, true)) return;
      document.body.dataset.command = page.body.dataset.command ?? "";
      const status = document.querySelector(`#${region} [role=status]`);
      if (status) speak(status.textContent);
    } catch (error) {
      if (error.name !== "AbortError") location.href = target;
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    apply();
  });
  form.querySelector("button[type=submit]").hidden = true;
  if (changed(form)) apply();
}

// What was typed or chosen before this script ran, or restored by the browser, sent no event to it.
function changed(form) {
  const asServed = form.cloneNode(true);
  asServed.reset();
  return address(form, form.action) !== address(asServed, form.action);
}

// Links that change one parameter keep the others as they are now, not as they were on arrival.
function keepFilter(event) {
  const link = event.target.closest("a[data-sets]");
  if (!link) return;
  const url = new URL(location.href);
  const value = new URL(link.href).searchParams.get(link.dataset.sets);
  if (value === null) url.searchParams.delete(link.dataset.sets);
  else url.searchParams.set(link.dataset.sets, value);
  url.searchParams.delete("page");
  link.href = url.href;
}

export function watchFilters() {
  document.addEventListener("click", keepFilter);
  for (const form of document.querySelectorAll("form[data-region]")) watch(form);
  if (new URL(location.href).searchParams.get("focus")) document.querySelector("input[type=search]")?.focus();
}

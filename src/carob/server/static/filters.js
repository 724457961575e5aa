// Filters apply as they are typed: the server filters, and its answer replaces the results.
import { load, replace } from "./regions.js";
import { speak } from "./speak.js";

const PAUSE = 120;

function address(form) {
  const url = new URL(form.action);
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
    const target = address(form);
    try {
      const page = await load(target, running.signal);
      history.replaceState(null, "", target);
      if (!replace(region, page)) return;
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
}

export function watchFilters() {
  for (const form of document.querySelectorAll("form[data-region]")) watch(form);
  if (new URL(location.href).searchParams.get("focus")) document.querySelector("input[type=search]")?.focus();
}

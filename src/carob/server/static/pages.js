// Everything here makes pages better that work without it. Modules find their elements by `data-`
// attributes, and do nothing on pages that have none.
import { watchKeys } from "./keys.js";
import { watchFilters } from "./filters.js";
import { watchTables } from "./tables.js";
import { watchEvents } from "./events.js";
import { watchForms } from "./forms.js";
import { watchSelection } from "./selection.js";

document.documentElement.classList.add("scripted");
watchKeys();
watchFilters();
watchTables();
watchEvents();
watchForms();
watchSelection();

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = getComputedStyle(root).colorScheme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `carob_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
});

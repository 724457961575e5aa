// Forms: problems while typing, files dropped anywhere, names remembered, all boxes at once.
import { show } from "./speak.js";

const PAUSE = 300;
const NAME = "carob-reviewer";

function checkWhileTyping(form) {
  const list = document.getElementById("problems");
  let timer = null;
  const check = async () => {
    const answer = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (answer.ok) list.replaceChildren(...new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  });
}

function goToLine(event) {
  const link = event.target.closest("[data-line]");
  const source = document.querySelector("textarea[name=source]");
  if (!link || !source) return;
  event.preventDefault();
  const lines = source.value.split("\n");
  const line = Math.min(Number(link.dataset.line), lines.length);
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  source.focus();
  source.setSelectionRange(start, start + lines[line - 1].length);
  source.scrollTop = source.scrollHeight * ((line - 3) / lines.length);
}

function takeDrops(form) {
  const field = form.querySelector("input[type=file]");
  for (const name of ["dragover", "dragenter"])
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}

function rememberName(field) {
  if (!field.value) field.value = localStorage.getItem(NAME) ?? "";
  field.addEventListener("change", () => localStorage.setItem(NAME, field.value));
}

function addRow(button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const template = document.getElementById(button.dataset.adds);
    const rows = template.parentElement.querySelectorAll("[data-row]").length;
    const copy = template.content.cloneNode(true);
    for (const part of copy.querySelectorAll("[name]")) part.name = part.name.replace("#", rows);
    template.before(copy);
    template.previousElementSibling.querySelector("textarea, input")?.focus();
  });
}

export function watchForms() {
  for (const form of document.querySelectorAll("form[data-check]")) checkWhileTyping(form);
  document.addEventListener("click", goToLine);
  for (const form of document.querySelectorAll("form.drop")) takeDrops(form);
  for (const field of document.querySelectorAll("input[data-remember]")) rememberName(field);
  for (const button of document.querySelectorAll("button[data-adds]")) addRow(button);
  for (const pre of document.querySelectorAll("pre.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => navigator.clipboard?.writeText(pre.innerText).then(() => show("copied")));
    pre.after(button);
  }
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-all]")) return;
    for (const box of document.querySelectorAll(`input[name="${event.target.dataset.all}"]`)) box.checked = event.target.checked;
  });
}

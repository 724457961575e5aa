// Large tables are windows: chunks of rows are fetched when they come near the screen, and
// dropped when they are far away, so that ten thousand rows cost as much as a few hundred.
const CHUNK = 100;
const parser = new DOMParser();

function chunkRows(text) {
  return [...parser.parseFromString(`<table><tbody>${text}`, "text/html").querySelectorAll("tr")];
}

function setHeight(body, rows, height) {
  const cell = document.createElement("td");
  cell.colSpan = 99;
  cell.style.height = `${Math.max(1, Math.round(rows * height))}px`;
  const row = document.createElement("tr");
  row.className = "gap";
  row.setAttribute("aria-hidden", "true");
  row.append(cell);
  body.replaceChildren(row);
}

async function fill(body, source, start) {
  if (body.dataset.state !== "empty") return;
  body.dataset.state = "loading";
  const join = source.includes("?") ? "&" : "?";
  const answer = await fetch(`${source}${join}start=${start}`);
  if (!answer.ok || body.dataset.state !== "loading") return;
  const rows = chunkRows(await answer.text());
  rows.forEach((row, index) => row.setAttribute("aria-rowindex", start + index + 2));
  body.replaceChildren(...rows);
  body.dataset.state = "full";
  document.dispatchEvent(new CustomEvent("carob:rows"));
}

function watch(table) {
  const total = Number(table.dataset.total);
  const shown = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
  if (shown >= total) return;
  const height = table.tBodies[0].rows[0].offsetHeight;
  document.querySelector("nav.pages[data-numbers]")?.remove();
  for (const body of [...table.tBodies].slice(Math.ceil(shown / CHUNK))) body.remove();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const start = Number(target.dataset.start);
        if (isIntersecting) fill(target, table.dataset.rows, start);
        else if (target.dataset.state !== "empty") {
          target.dataset.state = "empty";
          setHeight(target, Math.min(CHUNK, total - start), height);
        }
      }
    },
    { rootMargin: "1500px 0px" },
  );
  for (let start = shown; start < total; start += CHUNK) {
    const body = document.createElement("tbody");
    body.dataset.start = start;
    body.dataset.state = "empty";
    setHeight(body, Math.min(CHUNK, total - start), height);
    table.append(body);
    observer.observe(body);
  }
}

export function watchTables() {
  for (const table of document.querySelectorAll("table[data-rows]")) watch(table);
  document.addEventListener("carob:replaced", (event) => {
    for (const table of event.detail.querySelectorAll("table[data-rows]")) watch(table);
  });
}

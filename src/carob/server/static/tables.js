// Large tables are windows: chunks of rows are fetched when they come near the screen, and dropped
// when they are far away. All rows that are not there, between two chunks, are one gap, so that a
// hundred thousand rows cost as much as a hundred.
const CHUNK = 50;
const NEAR = 1500;
const parser = new DOMParser();
let rowHeight = null;

function chunkRows(text) {
  return [...parser.parseFromString(`<table><tbody>${text}`, "text/html").querySelectorAll("tr")];
}

function number(rows, start) {
  rows.forEach((row, index) => row.setAttribute("aria-rowindex", start + index + 2));
}

// The rows from `start` to `end`, as one empty row that is as high as they are.
function makeBody(start, end, height = (end - start) * rowHeight) {
  const body = document.createElement("tbody");
  const row = body.insertRow();
  row.className = "gap";
  row.setAttribute("aria-hidden", "true");
  const cell = row.insertCell();
  cell.colSpan = 99;
  cell.style.height = `${height}px`;
  Object.assign(body, { start, end, height, isGap: true });
  return body;
}

async function fill(body, source) {
  body.isGap = false;
  const join = source.includes("?") ? "&" : "?";
  const answer = await fetch(`${source}${join}start=${body.start}`);
  const text = answer.ok ? await answer.text() : "";
  if (!text || !body.isConnected) return;
  const rows = chunkRows(text);
  number(rows, body.start);
  body.replaceChildren(...rows);
  document.dispatchEvent(new CustomEvent("carob:rows"));
}

// Puts chunks where a gap is near the screen, and smaller gaps around them.
function open(gap, top, watchBody, source) {
  const perChunk = (gap.height / (gap.end - gap.start)) * CHUNK;
  const first = gap.start + Math.max(0, Math.floor((-NEAR - top) / perChunk)) * CHUNK;
  const last = Math.min(gap.end, gap.start + Math.max(1, Math.ceil((innerHeight + NEAR - top) / perChunk)) * CHUNK);
  if (first >= last) return;
  const bodies = [];
  if (first > gap.start) bodies.push(makeBody(gap.start, first));
  for (let start = first; start < last; start += CHUNK) {
    const chunk = makeBody(start, Math.min(start + CHUNK, last));
    fill(chunk, source);
    bodies.push(chunk);
  }
  if (last < gap.end) bodies.push(makeBody(last, gap.end));
  gap.replaceWith(...bodies);
  bodies.forEach(watchBody);
}

// Makes a chunk that is far away a gap, together with the gaps beside it.
function close(chunk, watchBody) {
  if (chunk.contains(document.activeElement)) return;
  const parts = [chunk.previousElementSibling, chunk, chunk.nextElementSibling].filter((body) => body === chunk || body?.isGap);
  const height = parts.reduce((sum, body) => sum + body.offsetHeight, 0);
  const gap = makeBody(parts[0].start, parts.at(-1).end, height);
  parts[0].replaceWith(gap);
  for (const body of parts) body.remove();
  watchBody(gap);
}

function watch(table) {
  const total = Number(table.dataset.total);
  const shown = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
  number([...table.tBodies].flatMap((body) => [...body.rows]), 0);
  if (shown >= total) return;
  rowHeight ??= table.tBodies[0].rows[0].offsetHeight;
  document.querySelector("nav.pages[data-numbers]")?.remove();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        if (!target.isConnected) observer.unobserve(target);
        else if (isIntersecting && target.isGap) open(target, boundingClientRect.top, watchBody, table.dataset.rows);
        else if (!isIntersecting && !target.isGap) close(target, watchBody);
      }
    },
    { rootMargin: `${NEAR}px 0px` },
  );
  const watchBody = (body) => observer.observe(body);
  const rest = makeBody(shown, total);
  table.append(rest);
  watchBody(rest);
}

export function watchTables() {
  for (const table of document.querySelectorAll("table[data-rows]")) watch(table);
  document.addEventListener("carob:replaced", (event) => {
    for (const table of event.detail.querySelectorAll("table[data-rows]")) watch(table);
  });
}

// Pages that grow: regions with `data-refresh` are loaded again when the server says that something
// of that kind changed. One stream for all tabs of a browser; a hidden tab closes its own.
import { load, parse, replace } from "./regions.js";
import { speak } from "./speak.js";

const KINDS = ["session", "run", "dataset", "ingest", "alert"];
const PAUSE = 700;
const POLL = 600;
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("carob-events") : null;
let source = null;
let timer = null;
let paused = false;

async function refresh() {
  timer = null;
  const regions = [...document.querySelectorAll("[data-refresh]")];
  if (!regions.length || document.hidden || paused) return;
  try {
    const address = location.href;
    const page = await load(address);
    if (location.href !== address) return; // another filter was applied meanwhile
    const changed = regions.filter((region) => replace(region.id, page));
    const status = document.querySelector("[data-refresh] [role=status], [data-refresh][role=status]");
    if (changed.length && status) speak(status.textContent);
    document.querySelector("header nav")?.replaceChildren(...(page.querySelector("header nav")?.childNodes ?? []));
  } catch {
    // The server stopped or restarts; the stream says when it is back.
  }
}

function onEvent(kind) {
  const wanted = [...document.querySelectorAll("[data-refresh]")].some((region) => region.dataset.refresh.split(" ").includes(kind));
  if (wanted && timer === null) timer = setTimeout(refresh, PAUSE);
}

function open() {
  if (source || document.hidden) return;
  source = new EventSource("/api/events");
  for (const kind of KINDS)
    source.addEventListener(kind, () => {
      channel?.postMessage(kind);
      onEvent(kind);
    });
  source.addEventListener("reset", refresh);
  // What changed after the server made this page and before the stream was open is in no event.
  source.addEventListener("open", () => (timer ??= setTimeout(refresh, PAUSE)));
}

function close() {
  source?.close();
  source = null;
}

// The tab that holds the lock has the stream; the others listen to what it passes on.
function share() {
  if (!navigator.locks || !channel) {
    open();
    return;
  }
  navigator.locks.request("carob-events", { ifAvailable: false }, () => {
    if (document.hidden) return undefined;
    open();
    return new Promise((done) => {
      const leave = () => {
        if (!document.hidden) return;
        document.removeEventListener("visibilitychange", leave);
        close();
        done();
      };
      document.addEventListener("visibilitychange", leave);
    });
  });
}

export function watchEvents() {
  if (document.querySelector("[data-refresh]")) {
    channel?.addEventListener("message", (event) => onEvent(event.data));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      refresh();
      share();
    });
    share();
  }
  const poll = async () => {
    if (!document.querySelector("[data-poll]")) return;
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.redirected) {
      location.replace(answer.url);
      return;
    }
    const page = answer?.ok ? parse(await answer.text()) : null;
    if (page) for (const region of document.querySelectorAll("[data-poll]")) replace(region.id, page);
    setTimeout(poll, POLL);
  };
  if (document.querySelector("[data-poll]")) setTimeout(poll, POLL);
  const pause = document.getElementById("pause");
  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? "Resume" : "Pause";
      if (!paused) refresh();
    });
  }
}

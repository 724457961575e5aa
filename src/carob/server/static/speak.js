// Says things to screen readers, at most every five seconds; the last thing wins.
const PAUSE = 5000;
let waiting = null;
let last = -PAUSE;

export function speak(text, now = false) {
  const said = document.getElementById("said");
  clearTimeout(waiting);
  const wait = now ? 0 : Math.max(0, last + PAUSE - performance.now());
  waiting = setTimeout(() => {
    last = performance.now();
    said.textContent = text;
  }, wait);
}

// Shows a short message where everybody sees it.
export function show(text) {
  document.querySelector(".toast")?.remove();
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.textContent = text;
  document.body.append(toast);
  setTimeout(() => toast.remove(), 2500);
  speak(text, true);
}

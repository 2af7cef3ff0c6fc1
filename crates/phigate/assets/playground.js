// The playground's live highlighting: the text is sent for scanning a moment after the
// last keystroke, and the marked parts of the answer take their places.
"use strict";

const form = document.querySelector("form[data-playground]");
const text = form.querySelector("textarea");
let running = null;
let timer = 0;

async function scan() {
  if (running) running.abort();
  running = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  try {
    const answer = await fetch("/playground", {
      method: "POST", body, headers: { "X-Live": "1" }, signal: running.signal, redirect: "manual",
    });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of fresh.querySelectorAll("[data-scan]")) {
      const old = document.querySelector(`[data-scan="${part.dataset.scan}"]`);
      if (old) old.replaceWith(document.adoptNode(part));
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

text.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(scan, 150);
});

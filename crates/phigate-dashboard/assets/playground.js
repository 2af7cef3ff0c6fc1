// The playground: the text is sent for scanning a moment after the last keystroke, and the marked parts of the answer
// take their places. A real request shows that it is on its way, and cannot be sent twice.
"use strict";

const form = document.querySelector("form[data-playground]");
const text = form.querySelector("textarea");
const button = form.querySelector("[data-send]");
const progress = form.querySelector("[data-progress]");
const about = progress?.textContent;
let running = null;
let timer = 0;

function swapScanned(fresh, wanted) {
  for (const part of fresh.querySelectorAll("[data-scan]")) {
    const old = document.querySelector(`[data-scan="${part.dataset.scan}"]`);
    if (old && wanted(part.dataset.scan)) old.replaceWith(document.adoptNode(part));
  }
}

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
    swapScanned(fresh, (name) => name !== "answer" && (name !== "dropped" || body.get("document")));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

// While a request is under way the button rests and the seconds count.
function wait() {
  const started = Date.now();
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  const tell = () => { progress.textContent = `Waiting for the provider, ${((Date.now() - started) / 1000).toFixed(1)} s`; };
  tell();
  const clock = setInterval(tell, 100);
  return () => {
    clearInterval(clock);
    button.disabled = false;
    button.removeAttribute("aria-busy");
    progress.textContent = about;
  };
}

// Shows an error of the page, or the whole answer.
function showAnswer(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const error = fresh.querySelector("main > .notice.bad");
  document.querySelector("main > .notice.bad")?.remove();
  if (error) document.querySelector(".page-head").after(document.adoptNode(error));
  swapScanned(fresh, (name) => name === "answer");
  copyButtons(document);
  document.querySelector("#answer").scrollIntoView({ block: "nearest" });
}

async function sendWhole(body) {
  const answer = await fetch("/playground/send", { method: "POST", body, redirect: "manual" });
  showAnswer(await answer.text());
}

async function sendStreamed(body) {
  const answer = await fetch("/playground/stream", { method: "POST", body, redirect: "manual" });
  const kind = answer.headers.get("content-type") || "";
  if (kind.startsWith("text/html")) { showAnswer(await answer.text()); return; }
  const card = document.querySelector("#streamed").content.cloneNode(true).firstElementChild;
  const [chip, sheet, link] = [".chip", ".sheet", "a"].map((place) => card.querySelector(place));
  chip.textContent = answer.status;
  chip.classList.add(answer.ok ? "ok" : "bad");
  link.href = `/audit/${answer.headers.get("x-gateway-request-id")}`;
  document.querySelector("#answer").replaceChildren(card);
  if (!kind.startsWith("text/event-stream")) {
    sheet.textContent = (await answer.json()).error?.message || "The answer holds no text.";
    return;
  }
  let rest = "";
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      const event = JSON.parse(line.slice(6));
      if (event.error) { chip.className = "chip bad"; chip.textContent = event.error.code; }
      sheet.append(event.choices?.[0]?.delta?.content ?? event.error?.message ?? "");
    }
  }
}

form.addEventListener("submit", async (event) => {
  if (event.submitter !== button || !button) return;
  event.preventDefault();
  if (button.disabled) return;
  const rest = wait();
  const body = new URLSearchParams(new FormData(form));
  try {
    await (document.querySelector("#stream").checked ? sendStreamed(body) : sendWhole(body));
  } catch {
    progress.textContent = "";
    document.querySelector("#answer").textContent = "The answer broke off. The audit log says how far it came.";
  } finally {
    rest();
  }
});

// A document travels in base64, with the text, and its bytes go no further than the scan.
const drop = form.querySelector("[data-drop]");
const [file, bytes, fileName, hint] = ["#file", "[name=document]", "[name=document_name]", ".hint"].map((place) => drop.querySelector(place));
const DOCUMENT_BYTES_MAX = 4 << 20;
const hintWords = hint.textContent;

function base64(buffer) {
  const all = new Uint8Array(buffer);
  let letters = "";
  for (let at = 0; at < all.length; at += 8192) letters += String.fromCharCode(...all.subarray(at, at + 8192));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function take(dropped) {
  if (!dropped) return;
  const isTooLarge = dropped.size > DOCUMENT_BYTES_MAX;
  hint.textContent = isTooLarge ? "This document has more than 4 MB." : "Reading the document …";
  bytes.value = isTooLarge ? "" : base64(await dropped.arrayBuffer());
  fileName.value = dropped.name;
  await scan();
  // It is scanned once: what is typed or sent afterwards is about the text.
  bytes.value = "";
  if (!isTooLarge) hint.textContent = hintWords;
}

file.addEventListener("change", () => take(file.files[0]));
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") take(event.dataTransfer.files[0]);
  });
}

text.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(scan, 150);
});
for (const field of form.querySelectorAll("#model, #format")) field.addEventListener("change", scan);

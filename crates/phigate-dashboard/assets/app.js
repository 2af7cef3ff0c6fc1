// Small comforts on every page. Everything also works without this file,
// except live updates.
"use strict";

document.documentElement.classList.add("scripted");

// Times arrive in UTC; show them in the viewer's zone, with UTC one hover away.
const date = { month: "short", day: "numeric" };
const hour = { hour: "2-digit", minute: "2-digit", second: "2-digit" };

const exact = { year: "numeric", ...date, ...hour, fractionalSecondDigits: 3, timeZoneName: "short" };

function inWords(moment, form) {
  if (form === "exact") return new Intl.DateTimeFormat(undefined, exact).format(moment);
  const thisYear = moment.getFullYear() === new Date().getFullYear();
  const year = thisYear ? {} : { year: "numeric" };
  const parts = form === "day" ? { ...date, year: "numeric" } : { ...date, ...year, ...hour };
  return new Intl.DateTimeFormat(undefined, parts).format(moment);
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.dateTime;
    time.textContent = inWords(moment, time.dataset.form);
  }
  for (const label of root.querySelectorAll("text[data-hour]")) {
    const moment = new Date(label.dataset.hour);
    label.textContent = label.dataset.form === "day"
      ? moment.toLocaleDateString(undefined, date)
      : moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  }
}

// The zone that times are in, written out.
function zones(root) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "your zone";
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts(new Date());
  const offset = parts.find((part) => part.type === "timeZoneName")?.value.replace("GMT", "UTC");
  const words = !offset || zone === "UTC" ? zone : `${zone} (${offset})`;
  for (const place of root.querySelectorAll("[data-zone]")) place.textContent = words;
}

// Times are typed in the viewer's zone as well, and sent in UTC.
function localFields() {
  const shifted = (text, sign) => {
    const moment = new Date(`${text}Z`);
    if (Number.isNaN(moment.getTime())) return text;
    // The zone's distance depends on the day, so it is asked for near the moment itself.
    const zone = new Date(sign < 0 ? moment : text).getTimezoneOffset();
    return new Date(moment.getTime() + sign * zone * 60_000).toISOString().slice(0, 19);
  };
  for (const field of document.querySelectorAll("input[data-utc]")) {
    // Browsers put back what was typed; what the server wrote stays in the attribute.
    field.value = field.defaultValue && shifted(field.defaultValue, -1);
    field.form.addEventListener("formdata", (event) => {
      if (field.value) event.formData.set(field.name, shifted(field.value, 1));
    });
  }
}

// A copy button beside everything marked as worth copying.
function copyButtons(root) {
  for (const box of root.querySelectorAll(".copy:not(.has-button)")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "compact";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${box.dataset.what || "text"}`);
    button.addEventListener("click", async () => {
      const text = box.querySelector("pre").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(box.querySelector("pre"));
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    box.classList.add("has-button");
    box.append(button);
  }
}

// Puts the parts of a fresh page, named by data-live, in place of the old ones.
// The fresh page comes from the same server-side templates, so there is one way to draw things.
function swapLive(fresh) {
  for (const part of fresh.querySelectorAll("[data-live]")) {
    const old = document.querySelector(`[data-live="${part.dataset.live}"]`);
    const inUse = old && (old.contains(document.activeElement) || old.querySelector("details[open]"));
    if (!old || inUse || old.outerHTML === part.outerHTML) continue;
    prepare(part);
    old.replaceWith(document.adoptNode(part));
  }
}

// Fetches the page again every few seconds while somebody is there. When nobody has touched
// anything for ten minutes it stops. Only a look after a touch counts as use of the login, so
// that its idle time-out comes when it should.
const PRESENCE_MS = 10 * 60 * 1000;

function liveUpdates(sign) {
  const every = Number(sign.dataset.every) * 1000;
  const words = sign.querySelector("span:last-child");
  let timer = 0;
  let touched = Date.now();
  let looked = touched;
  for (const kind of ["pointermove", "keydown", "scroll"]) {
    addEventListener(kind, () => {
      const wasAway = Date.now() - touched > PRESENCE_MS;
      touched = Date.now();
      if (wasAway) look();
    }, { passive: true });
  }
  const show = (state, text) => {
    sign.classList.toggle("on", state === "on");
    sign.classList.toggle("off", state === "off");
    words.textContent = text;
  };
  const next = () => { clearTimeout(timer); timer = setTimeout(look, every); };
  async function look() {
    if (document.hidden) return;
    if (Date.now() - touched > PRESENCE_MS) {
      show("off", "Paused while you are away");
      return;
    }
    const isPresent = touched > looked;
    looked = Date.now();
    try {
      const headers = { "X-Live": isPresent ? "present" : "1" };
      const answer = await fetch(location.href, { headers, redirect: "manual" });
      if (answer.type === "opaqueredirect" || answer.status === 401) {
        show("off", "Signed out. Reload to sign in.");
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      swapLive(new DOMParser().parseFromString(await answer.text(), "text/html"));
      show("on", "Live");
    } catch {
      show("off", "Not reachable, trying again");
    }
    next();
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  show("on", "Live");
  next();
}

// Enter a filter and it applies, without a click on the button. Filters that are not set stay out of the address.
function eagerForms() {
  for (const form of document.querySelectorAll("form[data-eager]")) {
    form.addEventListener("formdata", (event) => {
      for (const [name, value] of [...event.formData]) {
        if (value === "") event.formData.delete(name);
      }
    });
    for (const choice of form.querySelectorAll("select")) {
      choice.addEventListener("change", () => form.requestSubmit());
    }
  }
}

// A form that takes a while says so and cannot be sent twice.
function busyForms() {
  for (const form of document.querySelectorAll("form[data-busy]:not([data-fetch])")) {
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      if (!button) return;
      setTimeout(() => { button.disabled = true; button.textContent = form.dataset.busy; }, 0);
    });
  }
}

// A form whose answer takes the place of a part of the page: nothing is sent again by loading the page again.
function fetchedForms(root) {
  for (const form of root.querySelectorAll("form[data-fetch]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = event.submitter || form.querySelector("button");
      const words = button.textContent;
      button.disabled = true;
      button.textContent = form.dataset.busy || words;
      const body = new URLSearchParams(new FormData(form));
      try {
        const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const part = fresh.querySelector("[data-swap]");
        const old = form.closest("[data-swap]");
        if (!part || !old) { location.reload(); return; }
        prepare(part);
        fetchedForms(part);
        const typed = form.querySelector("input:not([type=hidden])")?.value;
        old.replaceWith(document.adoptNode(part));
        const field = part.querySelector("input:not([type=hidden])");
        if (field && typed) field.value = typed;
        part.querySelector("[role=alert], [role=status]")?.scrollIntoView({ block: "nearest" });
      } catch {
        button.disabled = false;
        button.textContent = words;
      }
    });
  }
}

// A form with changes that are not saved says so, and asks before they are lost.
function guardedForms() {
  for (const form of document.querySelectorAll("form[data-guard]")) {
    const state = form.querySelector("[data-unsaved]");
    const discard = form.querySelector("[data-discard]");
    const differs = (field) => {
      if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
      if (field.tagName === "SELECT") return [...field.options].some((option) => option.selected !== option.defaultSelected);
      return "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue;
    };
    let isSent = false;
    const isChanged = () => [...form.elements].some(differs);
    const show = () => {
      const changed = isChanged();
      form.classList.toggle("changed", changed);
      state.textContent = changed ? "Unsaved changes" : "";
      discard.disabled = !changed;
    };
    form.addEventListener("input", show);
    form.addEventListener("change", show);
    form.addEventListener("reset", () => setTimeout(show, 0));
    form.addEventListener("submit", () => { isSent = true; });
    addEventListener("beforeunload", (event) => {
      if (!isSent && isChanged()) event.preventDefault();
    });
    // Browsers put back what was typed before: then it is unsaved still.
    addEventListener("pageshow", () => { isSent = false; show(); });
    show();
  }
}

// Questions open over the page: one at a time, closed by Escape, by Cancel, or by a click beside them.
function questions() {
  const close = (ask) => { ask.open = false; ask.querySelector("summary").focus(); };
  document.addEventListener("toggle", (event) => {
    const ask = event.target;
    if (!ask.matches?.("details.ask") || !ask.open) return;
    for (const other of document.querySelectorAll("details.ask[open]")) if (other !== ask) other.open = false;
    ask.querySelector("select, input:not([type=hidden]), button")?.focus();
  }, true);
  document.addEventListener("keydown", (event) => {
    const ask = document.querySelector("details.ask[open]");
    if (event.key === "Escape" && ask) close(ask);
  });
  document.addEventListener("click", (event) => {
    const ask = event.target.closest("details.ask[open]");
    const isBeside = ask && !event.target.closest(".question, summary");
    if (ask && (isBeside || event.target.closest("[data-cancel]"))) close(ask);
  });
}

// Down and up the list of requests without a mouse; `/` leads to the filter.
function listKeys() {
  if (!document.querySelector("[data-keys]")) return;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector("form[data-eager] select")?.focus();
      return;
    }
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const rows = [...document.querySelectorAll("[data-keys] a.cover")];
    const at = rows.indexOf(document.activeElement);
    rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
  });
}

// What is in a column of a chart, beside the pointer.
function chartTips() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => {
    const column = event.target.closest?.(".chart .column");
    tip.hidden = !column;
    if (!column) return;
    // Ours says the same, at once and in the viewer's zone.
    column.querySelector("title")?.remove();
    tip.textContent = `${inWords(new Date(column.dataset.start))}: ${column.dataset.words}`;
    const box = column.getBoundingClientRect();
    const left = Math.min(Math.max(box.left + box.width / 2 - tip.offsetWidth / 2, 8), innerWidth - tip.offsetWidth - 8);
    tip.style.setProperty("left", `${left + scrollX}px`);
    tip.style.setProperty("top", `${box.top + scrollY - tip.offsetHeight - 6}px`);
  });
}

// Revealed content is sealed again when its time is over.
function sealAgain() {
  const shown = document.querySelector("[data-lock]");
  if (shown) setTimeout(() => location.replace(location.pathname), Number(shown.dataset.lock) * 1000);
}

function prepare(root) {
  localTimes(root);
  zones(root);
  copyButtons(root);
}

prepare(document);
localFields();
eagerForms();
busyForms();
fetchedForms(document);
guardedForms();
questions();
listKeys();
chartTips();
sealAgain();
const sign = document.querySelector(".live[data-every]");
if (sign) liveUpdates(sign);

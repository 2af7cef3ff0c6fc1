// Small comforts on every page. Everything also works without this file,
// except live updates.
"use strict";

document.documentElement.classList.add("scripted");

// Times arrive in UTC; show them in the viewer's zone, with UTC one hover away.
const date = { month: "short", day: "numeric" };
const hour = { hour: "2-digit", minute: "2-digit", second: "2-digit" };

function inWords(moment, dayOnly) {
  const thisYear = moment.getFullYear() === new Date().getFullYear();
  const year = thisYear ? {} : { year: "numeric" };
  const form = dayOnly ? { ...date, year: "numeric" } : { ...date, ...year, ...hour };
  return new Intl.DateTimeFormat(undefined, form).format(moment);
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.dateTime;
    time.textContent = inWords(moment, time.dataset.form === "day");
  }
  for (const label of root.querySelectorAll("text[data-hour]")) {
    const moment = new Date(label.dataset.hour);
    label.textContent = label.dataset.form === "day"
      ? moment.toLocaleDateString(undefined, date)
      : moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  }
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
    localTimes(part);
    copyButtons(part);
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

// Enter a filter and it applies, without a click on the button.
function eagerForms() {
  for (const form of document.querySelectorAll("form[data-eager]")) {
    for (const choice of form.querySelectorAll("select")) {
      choice.addEventListener("change", () => form.requestSubmit());
    }
  }
}

// A form that takes a while says so and cannot be sent twice.
function busyForms() {
  for (const form of document.querySelectorAll("form[data-busy]")) {
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      if (!button) return;
      setTimeout(() => { button.disabled = true; button.textContent = form.dataset.busy; }, 0);
    });
  }
}

localTimes(document);
localFields();
copyButtons(document);
eagerForms();
busyForms();
const sign = document.querySelector(".live[data-every]");
if (sign) liveUpdates(sign);

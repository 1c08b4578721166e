// What HTML cannot do: parts of a page that stay current, the links of the frame, and keys.
"use strict";

// --- live parts: <section data-live="/now/live" data-every="2000"> ---

const SLOWEST_MS = 30000;

function keepCurrent(section) {
  const every = Number(section.dataset.every);
  const state = document.getElementById("live-state");
  let tag = "", pause = every, timer = 0;

  function replace(html) {
    const parts = new DOMParser().parseFromString(html, "text/html").querySelectorAll("[id]");
    for (const part of parts) {
      const old = document.getElementById(part.id);
      if (!old || !section.contains(old) || old.contains(document.activeElement)) continue;
      if (old.outerHTML !== part.outerHTML) old.replaceWith(document.adoptNode(part));
    }
  }

  function say(words, isOld) {
    if (!state || state.textContent === words) return;
    state.textContent = words;
    state.classList.toggle("old", isOld);
  }

  async function ask() {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const answer = await fetch(section.dataset.live, { headers, redirect: "error" });
      if (answer.status === 401) return location.reload();
      if (!answer.ok && answer.status !== 304) throw new Error(answer.status);
      if (answer.ok) {
        tag = answer.headers.get("ETag") || "";
        replace(await answer.text());
      }
      pause = every;
      say(section.dataset.fresh, false);
    } catch {
      pause = Math.min(pause * 2, SLOWEST_MS);
      say(section.dataset.away, true);
    }
    timer = setTimeout(ask, pause);
  }

  document.addEventListener("visibilitychange", ask);
  timer = setTimeout(ask, every);
}

document.querySelectorAll("[data-live]").forEach(keepCurrent);

// --- copy buttons; the style sheet hides them where no script runs ---

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {  // none over plain http
    const field = document.createElement("textarea");
    field.value = button.dataset.copy;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.textContent = button.dataset.done;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});

// --- the frame: on a narrow screen its links scroll, and the page's own one is in sight ---

const here = document.querySelector(".top nav a[aria-current]");
if (here) {
  const nav = here.parentElement;
  const left = here.offsetLeft - nav.offsetLeft;
  const isInSight = left + here.offsetWidth <= nav.clientWidth;
  if (!isInSight) nav.scrollLeft = left - (nav.clientWidth - here.offsetWidth) / 2;
}

// --- keys; off on pages that explain them, and while somebody types ---

let goes = false;

function rows() {
  const stories = [...document.querySelectorAll(".story")];
  return stories.length ? stories : [...document.querySelectorAll("tbody tr")].filter((row) => row.querySelector("a"));
}

function step(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.classList.contains("at"));
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by));
  if (at >= 0) all[at].classList.remove("at");
  all[next].classList.add("at");
  all[next].querySelector("a").focus();
  all[next].scrollIntoView({ block: "nearest" });
  noteRead(all[next]);
}

// --- stories: what is gone to is read, marks are made in place ---

function noteRead(story) {
  const form = document.getElementById("read");
  if (!form || !story.matches(".story:not(.read)")) return;
  story.classList.add("read");
  const told = new URLSearchParams(new FormData(form));
  told.set("pages", story.dataset.page);
  told.set("to", "/healthz");
  fetch(form.action, { method: "POST", body: told, keepalive: true });
}

async function mark(event) {
  const form = event.target, story = form.closest(".story");
  if (!story) return;
  event.preventDefault();
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(story.id);
  if (!answer.ok || !fresh) return form.submit();  // the server says why
  fresh.classList.toggle("at", story.classList.contains("at"));
  story.replaceWith(document.adoptNode(fresh));
  fresh.querySelector("a").focus({ preventScroll: true });
}

document.addEventListener("submit", mark);

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const key = event.key;
  if (goes) {
    goes = false;
    const link = [...document.querySelectorAll("a[data-go]")].find((a) => a.dataset.go === key);
    if (link) link.click();
  } else if (key === "g") {
    goes = true;
  } else if (key === "j" || key === "k") {
    step(key === "j" ? 1 : -1);
  } else if (key === "o") {
    const story = document.querySelector(".story.at");
    if (story) { noteRead(story); story.querySelector("a.original")?.click(); }
  } else if ("rnu".includes(key)) {
    document.querySelector(`.story.at form[data-key=${key}]:not(.done) button`)?.click();
  } else if (key === "/") {
    const field = document.querySelector(".search input, .filters input");
    if (field) { event.preventDefault(); field.focus(); }
  } else if (key === "?") {
    const help = document.querySelector('a[data-go="?"]');
    if (help) help.click();
  }
}

if (document.body.dataset.keys === "on") document.addEventListener("keydown", press);

// What both pages share: tabs, keys, help, who labels, and dialogs for a name, a label, a note.
import { person } from "./api.js";
import { $, color, fill, h, many, say } from "./dom.js";

export function tabs(onShow) {
  const all = [...document.querySelectorAll("[role=tab]")];
  const show = (tab, byMouse = false) => {
    for (const one of all) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", chosen);
      one.tabIndex = chosen ? 0 : -1;
      $(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    $("guide").hidden = !["label", "tag"].includes(tab.getAttribute("aria-controls"));
    window.scrollTo(0, 0);
    onShow(tab.getAttribute("aria-controls"), byMouse);
  };
  for (const [at, tab] of all.entries()) {
    tab.addEventListener("click", () => show(tab, true));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(at + step + all.length) % all.length];
      next.focus();
      show(next);
    });
  }
  $("guide").hidden = Boolean($("label")?.hidden || $("tag")?.hidden);
  return (name) => show($(`tab-${name}`));
}

// Commands have keys that can be changed: `commands` maps a key to what it does.
let commandKeys = {};
export const command = (name) => h("kbd", { "data-command": name, hidden: !commandKeys[name] }, commandKeys[name] || "");
export const commandOf = (key) => Object.keys(commandKeys).find((name) => commandKeys[name] === key);
export function showKeys(view, act) {
  $("who").textContent = view.annotator;
  $("who").setAttribute("aria-label", `Who labels: ${view.annotator}`);
  if (JSON.stringify(view.keys) === JSON.stringify(commandKeys)) return;
  commandKeys = view.keys;
  for (const one of document.querySelectorAll("kbd[data-command]")) { one.textContent = commandKeys[one.dataset.command]; one.hidden = !one.textContent; }
  fill($("keys"), Object.entries(commandKeys).map(([name, key]) => h("label", {}, `${name} `, h("input", { "data-command": name, maxlength: 1, size: 2, value: key, autocomplete: "off",
    onchange: (event) => act("keys", { command: name, key: event.target.value }, `${name}: ${event.target.value || "no key"}`) }))));
}
export function startWho(load) {
  $("who").addEventListener("click", async () => { const name = await askName("Who labels?"); if (name) { person(name); load(); } });
}

// The last answers, to be opened again.
const recent = [];
export function remember(row, text, open) {
  if (row === undefined) recent.shift();
  else recent.unshift({ row, text });
  recent.length = Math.min(recent.length, 8);
  fill($("recent"), recent.length ? h("h2", {}, "Last labels") : null, recent.map((one) => h("button", { type: "button", class: "chip", onclick: () => open(one.row) }, one.text)));
}
export function progress(n, all, what) {
  $("count").textContent = `${many(n)} of ${many(all)} ${what}`;
  $("progress").max = all;
  $("progress").value = n;
}

export function keys(handle) {
  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (at.matches("input:not([type=range], [type=checkbox]), select, textarea")) { if (event.key === "Escape") at.blur(); return; }
    if (["Enter", " "].includes(event.key) && at.matches("button, a, .scroll, summary")) return;
    if (event.key === " " && at.matches("input")) return;
    if (event.key.length === 1 && event.key !== " " && !$("single-keys").checked) return;
    if (event.key === "?") $("help").showModal();
    else if (!handle(event.key, event)) return;
    event.preventDefault();
  });
  $("help-open").addEventListener("click", () => $("help").showModal());
}

// Ask for a name in a dialog; resolves to null where it was cancelled.
export function askName(title = "New label") {
  const dialog = $("name-dialog"), input = $("name");
  $("name-title").textContent = title;
  input.value = "";
  dialog.returnValue = "no";
  dialog.showModal();
  input.focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    resolve(dialog.returnValue === "ok" && input.value.trim() ? input.value.trim() : null);
  }, { once: true }));
}

// Type to find a label; resolves to null where none was chosen.
export function findLabel(labels) {
  const dialog = $("find-dialog"), input = $("find");
  let at = 0, some = [];
  const draw = () => {
    const words = input.value.trim().toLowerCase(), starts = (label) => !label.name.toLowerCase().startsWith(words);
    some = labels.filter((label) => label.name.toLowerCase().includes(words)).sort((a, b) => starts(a) - starts(b));
    at = Math.max(0, Math.min(at, some.length - 1));
    fill($("find-list"), some.map((label, n) => h("li", { id: `find-${n}`, role: "option", class: "swatch", tag: color(label), "aria-selected": String(n === at),
      onclick: () => dialog.close(label.name) }, label.name)));
    input.setAttribute("aria-activedescendant", some.length ? `find-${at}` : "");
    $(`find-${at}`)?.scrollIntoView({ block: "nearest" });
  };
  input.value = "";
  input.oninput = () => { at = 0; draw(); };
  input.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { at += step; draw(); } else if (event.key === "Enter") dialog.close(some[at]?.name ?? ""); else return;
    event.preventDefault();
  };
  dialog.returnValue = "";
  dialog.showModal();
  draw();
  input.focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(some.find((label) => label.name === dialog.returnValue)?.name ?? null), { once: true }));
}

export function askNote(text) {
  const dialog = $("note-dialog");
  $("note").value = text;
  dialog.returnValue = "no";
  dialog.showModal();
  $("note").focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? $("note").value : null), { once: true }));
}

export function exporting(post) {
  $("export").addEventListener("click", async (event) => {
    const what = event.target.closest("button")?.dataset.what;
    if (!what) return;
    $("exported").textContent = `Writing ${what} …`;
    const reply = await post("exports", { what });
    $("exported").textContent = reply ? `Written: ${reply.files.join(", ")}` : "";
    if (reply) say(`Written: ${reply.files.join(", ")}`);
  });
}

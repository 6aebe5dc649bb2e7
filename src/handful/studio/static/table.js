// The page of a table: the next row and one key for its label.
import { ask, listen, post } from "./api.js";
import { $, color, counted, fill, h, many, percent, say } from "./dom.js";
import { bookChanged, showBook, startBook } from "./book.js";
import { askName, askNote, command, commandOf, exporting, findLabel, keys, progress, remember, showKeys, startWho, tabs } from "./frame.js";
import { showMap, startMap, togglePlay } from "./map.js";
import { itemQueue } from "./queue.js";
import { isReviewing, labelChosen, onChosen, refreshRows, startRows } from "./rows.js";
import { showSide } from "./side.js";

let view = null, looked = null; // looked: a row opened from the list, shown instead of the next one
let shownRow = null; // the row that is announced
const items = itemQueue(show);
const item = () => looked || items.first();

function show(facts, jump = false) {
  view = facts;
  items.take(facts, jump);
  progress(view.n_labeled, view.n_items, "labeled");
  $("undo").disabled = !view.can_undo;
  showKeys(view, act);
  bookChanged(view);
  showItem();
  showButtons();
  showSide(view, actions);
  if (!$("rows").hidden) refreshRows(view);
}

function showItem() {
  const row = item();
  $("item").dataset.row = row ? row.row : "none";
  if (!row) {
    fill($("item"), items.pending() ? h("h2", {}, "Saving …") : [h("h2", {}, "Done"), h("p", {}, "Every row has a label. Export them, or look at the likely errors.")]);
    return;
  }
  const suggested = row.suggestion === null ? null : h("p", { class: "says" }, "Model says ", h("strong", { class: "swatch", tag: color(view.labels.find((label) => label.name === row.suggestion)) }, row.suggestion), ` ${percent(row.confidence)} `,
    h("kbd", {}, "Enter"));
  const check = row.random ? h("p", { class: "says soft" }, "Chosen at random to measure accuracy, so it comes without a suggestion.") : null;
  if (shownRow !== null && shownRow !== row.row) $("announced").textContent = `Row ${row.row + 1}. ${row.cells.map((one) => one[1]).join(" ").slice(0, 200)}`;
  shownRow = row.row;
  const has = row.label === null ? null : h("p", {}, "Labeled ", h("strong", {}, row.label),
    row.rather ? h("span", { class: "bad" }, `, likely wrong: the model says ${row.rather}`) : null,
    row.changed ? h("span", { class: "bad" }, ". The cells changed since; label it again.") : null,
    row.second && !row.second.settled ? ` first; ${row.second.by} says ${row.second.label}` : null);
  const filled = row.cells.filter(([, text]) => text !== "");
  const texts = filled.filter(([, text]) => filled.length === 1 || text.length > 80), others = filled.filter((one) => !texts.includes(one));
  const cell = ([, text, more]) => [text, more ? h("em", { class: "soft" }, ` … and ${counted(more, "more letter")}`) : null];
  fill($("item"), h("h2", {}, `Row ${many(row.row + 1)}${row.reason ? ` · ${row.reason}` : ""}${row.mark ? ` · ${row.mark}` : ""}`), has, suggested, check,
    texts.map((one) => h("div", { class: one[1].length > 400 ? "text long" : "text", dir: "auto" }, cell(one))),
    others.length > 12 ? h("dl", { class: "cells many" }, others.map((one) => h("div", {}, h("dt", {}, one[0]), h("dd", { dir: "auto" }, cell(one)))))
      : others.length ? h("dl", { class: "cells" }, others.map((one) => [h("dt", {}, one[0]), h("dd", { dir: "auto" }, cell(one))])) : null,
    row.note ? h("p", { class: "soft" }, `Note: ${row.note}`) : null,
    view.labels.length ? null : h("p", {}, "There is no label yet. Press ", command("new"), " and name the first one; the row gets it."));
}

function showButtons() {
  fill($("buttons"), view.labels.map((label) => h("button", {
    type: "button", key: label.name, class: item()?.suggestion === label.name ? "swatch suggested" : "swatch", tag: color(label), "data-label": label.name, onclick: () => give(label.name),
  }, label.key ? h("kbd", {}, label.key) : null, ` ${label.name}`)));
}

function act(route, body, text, rows = []) {
  if (looked && rows.includes(looked.row)) looked = null;
  const sent = items.send(route, body, rows);
  if (rows.length && item()) { showItem(); showButtons(); }
  if (rows.length === 1 || route === "undo") remember(rows[0], text, open);
  say(text, rows.length === 1);
  return sent;
}
const give = (label) => item() && act("labels", { items: [item().row], label, random: Boolean(item().random), again: Boolean(item().again) }, `Row ${item().row + 1}: ${label}`, [item().row]);
const mark = (route, text) => item() && act(route, { item: item().row }, `Row ${item().row + 1}: ${text}`, [item().row]);
const undo = () => view?.can_undo && act("undo", {}, "Undone");
async function newLabel() {
  const name = await askName();
  if (name) await (item() && !item().label ? give(name) : act("names", { name }, `New label: ${name}`));
}

async function find() {
  const name = await findLabel(view.labels);
  if (name) give(name);
}
async function note() {
  const row = item(), text = row && await askNote(row.note);
  if (typeof text !== "string") return;
  row.note = text;
  act("notes", { item: row.row, text }, "Note saved");
  showItem();
}

async function alike() {
  if (!item()) return;
  const facts = await ask(`items/${item().row}/alike`);
  if (!facts) return;
  const wanted = item().label || item().suggestion, rows = facts.rows;
  $("alike-text").textContent = rows.length ? `${counted(rows.length, "row")} ${rows.length === 1 ? "is" : "are"} near row ${item().row + 1} and the model predicts the same for ${rows.length === 1 ? "it" : "them"}:`
    : "No unlabeled row is so near that the model predicts the same for it.";
  fill($("alike-label"), view.labels.map((label) => h("option", { value: label.name, selected: label.name === wanted }, label.name)));
  fill($("alike-rows"), rows.map((row) => h("label", {}, h("input", { type: "checkbox", checked: true, value: row.row }),
    ` ${row.row + 1}: ${row.text}`)));
  $("alike-ok").disabled = !rows.length || !view.labels.length;
  const dialog = $("alike-dialog"), own = item().row;
  dialog.returnValue = "no";
  dialog.showModal();
  dialog.addEventListener("close", () => {
    const chosen = [...document.querySelectorAll("#alike-rows input:checked")].map((box) => Number(box.value));
    if (dialog.returnValue !== "ok" || !chosen.length) return;
    const label = $("alike-label").value;
    act("labels", { items: [own, ...chosen], label }, `${chosen.length + 1} rows: ${label}`, [own, ...chosen]);
  }, { once: true });
}

async function open(row) {
  looked = await ask(`items/${row}`);
  if (looked) { toTab("label"); showItem(); showButtons(); $("work").focus(); }
}

// The row on the page changes with the answer, so that no key is lost between.
async function strategy(body) {
  const facts = await post("strategy", body);
  if (facts) show(facts, true);
  return facts;
}
const actions = {
  random: () => strategy({ strategy: view.strategy === "auto" ? "random" : "auto" }),
  list: (show) => { toTab("rows"); $("show").value = show; refreshRows(view); },
};
const audit = async (group) => { if (await strategy({ strategy: "review", ...group, threshold: group.threshold || undefined })) { toTab("label"); $("work").focus(); say("Random rows of the group, without their suggestions"); } };
const drawMap = () => items.idle().then(() => showMap(view.labels, open)); // with the keys that are on their way
const toTab = tabs((name) => {
  if (!view) return;
  if (name === "rows") refreshRows(view);
  if (name === "map") drawMap();
  if (name === "book") showBook();
});
const onLabel = { skip: () => mark("skips", "skip"), unsure: () => mark("unsure", "unsure"), new: newLabel, alike, find, note };
keys((key) => {
  if (!view) return false;
  const name = commandOf(key), label = view.labels.find((one) => one.key === key);
  if (name === "undo") undo();
  else if (key === "/") { toTab("rows"); $("query").focus(); }
  else if (name === "play" && !$("map").hidden) togglePlay();
  else if (label && !$("rows").hidden) labelChosen(label.name);
  else if (isReviewing() && (name === "reject" || key === "Enter")) onChosen(name || "accept");
  else if ($("label").hidden) return false;
  else if (key === "Escape" && looked) { looked = null; showItem(); showButtons(); }
  else if (key === "Enter" && item()?.suggestion) give(item().suggestion);
  else if (label) give(label.name);
  else if (name in onLabel) onLabel[name]();
  else return false;
  return true;
});
for (const [id, work] of Object.entries({ ...onLabel, "find-open": find, "note-open": note, undo })) $(id)?.addEventListener("click", work);
$("goal").addEventListener("change", async () => { const facts = await post("goal", { goal: $("goal").value / 100 }); if (facts) view.goal = facts.goal; });
startRows(open, act, audit);
startBook(act);
startWho(async () => { const facts = await ask("view"); if (facts) show(facts, true); });
startMap(drawMap);
exporting((what, body) => items.idle().then(() => post(what, body)));
listen(items.load, {
  queue: items.stale,
  changed: items.changed,
  panel: (panel) => { if (view) { view.panel = panel; showSide(view, actions); } },
});

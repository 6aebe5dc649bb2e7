// The page of a text: words on a board, and sentences whose spans are chosen by mouse or keys.
import { ask, listen, post } from "./api.js";
import { bare, hue, showBoard, showSample, shown, spanPart } from "./board.js";
import { $, color, counted, fill, h, many, percent, say } from "./dom.js";
import { bookChanged, showBook, startBook } from "./book.js";
import { askName, askNote, commandOf, exporting, findLabel, keys, progress, remember, showKeys, startWho, tabs } from "./frame.js";
import { itemQueue } from "./queue.js";
import { randomOnly, showClasses } from "./side.js";

let announced = null;
let view = null, looked = null, anchor = 0, cursor = 0; // looked: a sentence opened from the sample
const items = itemQueue(show);
const item = () => looked || items.first();
const first = () => Math.min(anchor, cursor), last = () => Math.max(anchor, cursor);

function show(facts, jump = false) {
  const before = items.first()?.row;
  view = facts;
  items.take(facts, jump);
  if (items.first()?.row !== before && !looked) { anchor = 0; cursor = 0; }
  if (looked && items.first()?.row === looked.row) looked = null;
  if (!items.pending()) renew();
  progress(view.n_done, view.n_items, "tagged");
  $("undo").disabled = !view.can_undo;
  showKeys(view, act);
  bookChanged(view);
  showItem();
  showLearned();
}

// The sentence on the page gets the tags that were given, and what the model suggests by now.
async function renew() {
  const own = item(), sent = items.sent(), fresh = own && (view.queue.find((one) => one.row === own.row) || (own.random ? null : await ask(`items/${own.row}`)));
  if (!fresh || items.sent() !== sent || items.pending() || item()?.row !== fresh.row) return; // it may be of before a key
  if (looked) looked = fresh; else items.replace(fresh);
  showItem();
}

function showLearned() {
  $("model").textContent = view.model.busy ? `${view.model.busy} …` : view.model.text;
  const { needed, tagged, board } = view.audit, best = board && board.score >= tagged.score ? board : tagged;
  const strategy = randomOnly(view, !needed, "sentences", async () => { const facts = await post("strategy", { strategy: view.strategy === "auto" ? "random" : "auto" }); if (facts) show(facts, true); });
  fill($("audit"), needed || !best ? h("p", { class: "soft" }, needed ? `Label ${counted(needed, "more random sentence")} to know the accuracy. Every fifth is random.` : "Measuring …")
    : [h("div", { class: "big" }, view.spans ? `F1 ${percent(best.score)}` : percent(best.score)),
      h("p", { class: "soft" }, `90% interval ${percent(best.low)} to ${percent(best.high)}, on ${counted(best.n_sentences, "random sentence")}`),
      board ? h("p", {}, best === tagged ? `Tagged sentences alone do better than with the board (${percent(board.score)}): the model learns from them alone.`
        : `Without the board, tagged sentences alone give ${percent(tagged.score)}.`) : null], strategy);
  showClasses(view.labels);
  if (view.board) showBoard(view, act, where);
  showSample(view, open);
}

// A suggested span counts only where all its tokens are open: boundaries stay as the person set them.
function combined(one) {
  const suggested = one.suggestion || [], tags = one.tags.map((own) => own ?? null);
  if (!view.spans) return tags.map((own, at) => own ?? suggested[at]);
  for (let start = 0, stop; start < tags.length; start = stop) {
    stop = start + 1;
    while (stop < suggested.length && suggested[stop]?.startsWith("I-")) stop += 1;
    if (one.tags.slice(start, stop).every((own) => own === null)) for (let at = start; at < stop; at += 1) tags[at] = suggested[at] ?? null;
  }
  return tags;
}

function showItem() {
  const one = item();
  $("item").dataset.row = one ? one.row : "none";
  $("item-title").textContent = one ? `Sentence ${many(one.row + 1)}${one.reason ? ` · ${one.reason}` : ""}` : items.pending() ? "Saving …" : "Done: every sentence is tagged";
  if (one && announced !== null && announced !== one.row) $("announced").textContent = `Sentence ${one.row + 1}: ${one.tokens.join(" ").slice(0, 200)}`;
  announced = one ? one.row : null;
  const tags = one ? combined(one) : [];
  fill($("tokens"), (one?.tokens || []).map((word, at) => {
    const own = one.tags[at], tag = shown(view, tags[at]), chosen = at >= first() && at <= last(), part = spanPart(view, tags, at);
    return [h("span", { class: `token${own === null ? " suggestion" : ""}${part}`, role: "option", id: `token-${at}`, "aria-selected": String(chosen),
      "data-at": at, "data-tag": tag, tag: tag && hue(view, tag), title: own === null && one.confidence ? percent(one.confidence[at]) : null },
    h("bdi", {}, word), tag && !part.includes("inner") ? h("sup", {}, bare(view, tag)) : null, own === null && tag ? h("span", { class: "hidden" }, " (suggested)") : null), " "];
  }));
  if (one) $("tokens").setAttribute("aria-activedescendant", `token-${cursor}`);
  const open = one ? one.tags.filter((tag) => tag === null).length : 0;
  $("item-text").textContent = !one ? "Export the tags, or open a sentence of the sample."
    : `${one.note ? `Note: ${one.note}. ` : ""}${one.more ? `${many(one.more)} more tokens are not shown. ` : ""}${!view.labels.length ? "There is no label yet: choose tokens and use New label to name one." : one.suggestion
      ? `Dashed tags are suggestions: ${many(open)} of ${many(one.tags.length)} tokens are open.` 
      : one.random ? "Chosen at random to measure accuracy, so it comes without a suggestion."
      : `No model yet: choose tokens and give them a label. ${many(open)} are open.`}`;
  fill($("buttons"), view.labels.map((label) => h("button", { type: "button", key: label.name, "data-label": label.name, class: "swatch", tag: color(label), onclick: () => give(label.name) },
    label.key ? h("kbd", {}, label.key) : null, ` ${label.name}`)));
}

function act(route, body, text, rows = []) {
  if (looked && rows.includes(looked.row)) looked = null;
  const sent = items.send(route, body, rows);
  if (rows.length) { anchor = 0; cursor = 0; showItem(); }
  if (rows.length || route === "undo") remember(rows[0], text, open);
  say(text, ["spans", "accepted", "skips"].includes(route));
  return sent;
}
// A label is shown at once; the server answers with the same tags.
function give(label) {
  const one = item();
  if (!one) return null;
  const from = first(), stop = last() + 1, name = label === null && view.spans ? "O" : label;
  for (let at = from; at < stop; at += 1) one.tags[at] = view.spans && label !== null ? `${at === from ? "B" : "I"}-${label}` : name;
  if (view.spans && one.tags[stop]?.startsWith("I-") && one.tags[stop] !== `I-${label}`) one.tags[stop] = `B-${one.tags[stop].slice(2)}`;
  const text = label === null ? "No label" : `${label}: ${one.tokens.slice(from, stop).join(" ")}`;
  showItem();
  return act("spans", { item: one.row, start: from, stop, label }, text);
}
function accept() {
  const one = item();
  if (!one) return;
  if (!view.spans && !combined(one).some((tag) => tag !== null)) { say("No token has a tag. Choose some tokens and give them a label first."); return; }
  act("accepted", { item: one.row, random: Boolean(one.random) }, `Sentence ${one.row + 1}: accepted`, [one.row]);
}
const skip = () => item() && act("skips", { item: item().row }, `Sentence ${item().row + 1}: skipped`, [item().row]);
const undo = () => view?.can_undo && act("undo", {}, "Undone");
function acceptToken() {
  const one = item();
  if (!one?.suggestion) { say("There is no suggestion yet."); return; }
  const tag = one.suggestion[cursor], bare = view.spans ? tag.replace(/^[BI]-/, "") : tag;
  while (view.spans && cursor < one.tokens.length - 1 && one.suggestion[cursor + 1] === `I-${bare}`) cursor += 1; // a span is taken whole
  give(view.spans && tag === "O" ? null : bare);
  choose(last() + 1);
}
async function newLabel() {
  const name = await askName();
  if (name) await ($("tag").hidden || !item() ? act("names", { name }, `New label: ${name}`) : give(name));
}
async function find() {
  const name = await findLabel(view.labels);
  if (name) give(name);
}
async function note() {
  const one = item(), text = one && await askNote(one.note);
  if (typeof text === "string") { one.note = text; act("notes", { item: one.row, text }, "Note saved"); showItem(); }
}
function where(word) {
  if (!view.labels.length) { say("There is no label yet. Press n to name one."); return Promise.resolve(null); }
  const dialog = $("where-dialog");
  $("where-title").textContent = `Which label for ${word}?`;
  fill($("where"), view.labels.map((label) => h("button", { value: label.name }, label.name)));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true }));
}
async function open(row) {
  looked = await ask(`items/${row}`);
  if (looked) { anchor = 0; cursor = 0; toTab("tag"); showItem(); $("tokens").focus(); }
}

function choose(at, extend = false) {
  if (!item()) return;
  cursor = Math.max(0, Math.min(at, item().tokens.length - 1));
  if (!extend) anchor = cursor;
  showItem();
}
// The next or previous span, suggested or not, is chosen as a whole.
function chooseSpan(step) {
  if (!item()) return;
  const tags = combined(item()), starts = tags.map((tag, at) => at).filter((at) => shown(view, tags[at]) && !(view.spans && tags[at].startsWith("I-")));
  const start = step > 0 ? starts.find((at) => at > last()) : starts.filter((at) => at < first()).at(-1);
  if (start === undefined) return;
  choose(start);
  while (view.spans && tags[cursor + 1] === `I-${bare(view, tags[start])}`) cursor += 1;
  showItem();
}
const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("#tokens .token")?.dataset.at;
$("tokens").addEventListener("pointerdown", (event) => { const at = under(event); if (at !== undefined) choose(Number(at), event.shiftKey); });
$("tokens").addEventListener("pointermove", (event) => { const at = under(event); if (event.buttons === 1 && at !== undefined && Number(at) !== cursor) choose(Number(at), true); });

const toTab = tabs((name, byMouse) => {
  if (name === "tag" && byMouse) $("tokens").focus();
  if (name === "book") showBook();
});
const onTag = { skip, find, note };
keys((key, event) => {
  if (!view) return false;
  const command = commandOf(key), label = view.labels.find((one) => one.key === key);
  if (command === "undo") undo();
  else if (command === "new" && $("book").hidden) newLabel();
  else if ($("tag").hidden) return false;
  else if (key === "ArrowRight" || key === "ArrowLeft") choose(cursor + (key === "ArrowRight" ? 1 : -1), event.shiftKey);
  else if (key === "ArrowDown" || key === "ArrowUp") chooseSpan(key === "ArrowDown" ? 1 : -1);
  else if (key === " ") acceptToken();
  else if (key === "Enter") accept();
  else if (key === "Backspace" || key === "Delete") give(null);
  else if (key === "Escape" && looked) { looked = null; showItem(); }
  else if (label) give(label.name);
  else if (command in onTag) onTag[command]();
  else return false;
  return true;
});
for (const [id, work] of Object.entries({ accept, token: acceptToken, clear: () => give(null), skip, new: newLabel, "new-column": newLabel, undo, "find-open": find, "note-open": note })) {
  $(id)?.addEventListener("click", work);
}
exporting(post);
startBook(act);
startWho(items.load);
listen(items.load, { changed: items.changed, learned_model: items.stale });

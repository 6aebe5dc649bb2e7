// The board: a column for each label, words as chips with counts; suggestions to press or drag in; a sample tagged live.
import { $, color, counted, fill, h, many, percent } from "./dom.js";

export const bare = (view, tag) => (view.spans ? tag.replace(/^[BI]-/, "") : tag);
export const hue = (view, tag) => color(view.labels.find((label) => label.name === bare(view, tag)));
// One bracket per span: its first token carries the label, the others join it.
export function spanPart(view, tags, at) {
  const tag = shown(view, tags[at]);
  if (!view.spans || !tag) return "";
  return `${tag.startsWith("I-") ? " inner" : ""}${tags[at + 1] === `I-${bare(view, tag)}` ? " joined" : ""}`;
}
export const shown = (view, tag) => (tag && !(view.spans && tag === "O") ? tag : null);

function chip(word, n, text, press, drag, maybe = false) {
  return h("button", { type: "button", key: word, class: maybe ? "chip maybe" : "chip", draggable: "true", "data-word": word, "aria-label": text,
    onclick: press, ondragstart: (event) => event.dataTransfer.setData("text/plain", JSON.stringify(drag)) }, h("bdi", {}, word), " ", h("small", {}, many(n)));
}

// Nothing moves between press and release: a click would be lost.
let pressed = false, waiting = null;
document.addEventListener("pointerdown", (event) => { pressed = Boolean(event.target.closest?.("main")); });
for (const name of ["pointerup", "pointercancel", "dragend"]) {
  document.addEventListener(name, () => setTimeout(() => { pressed = false; const redraw = waiting; waiting = null; redraw?.(); }));
}
export function showBoard(view, act, where) {
  if (pressed) waiting = () => showBoard(view, act, where);
  else drawBoard(view, act, where);
}

function drawBoard(view, act, where) {
  const board = view.board;
  const put = (word, to, from = null) => act("words", { word, to, from }, to ? `${word}: ${to}` : `${word}: taken out`);
  $("board-text").textContent = board.columns.length ? "Name three words or more that are typical of each label. Press or drag a suggestion in; press a word to take it out."
    : "There is no label yet. Press n to name the first one, then give it words that are typical of it.";
  fill($("board"), board.columns.map(({ label, words, near }) => h("section", { tag: hue(view, label), key: label, "data-column": label,
    ondragover: (event) => { event.preventDefault(); event.currentTarget.classList.add("over"); },
    ondragleave: (event) => event.currentTarget.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); const { word, from } = JSON.parse(event.dataTransfer.getData("text/plain")); if (from !== label) put(word, label, from); } },
  h("h2", {}, h("bdi", {}, label)),
  h("div", { class: "chips" }, words.map(([word, n]) => chip(word, n, `Take ${word} out of ${label}, ${n} times in the text`, () => put(word, null, label), { word, from: label }))),
  h("form", { onsubmit: (event) => { event.preventDefault(); const input = event.target.elements[0], word = input.value.trim(); input.value = ""; if (word) put(word, label); } },
    h("input", { "aria-label": `A word for ${label}`, placeholder: "a word", autocomplete: "off", maxlength: 100 })),
  near.length ? h("p", { class: "soft" }, "Like these:") : null,
  h("div", { class: "chips" }, near.map(([word, n]) => chip(word, n, `Put ${word} under ${label}, ${n} times in the text`, () => put(word, label), { word, from: null }, true))))));
  const ask = async (word) => { const to = await where(word); if (to) put(word, to); };
  fill($("uncovered"), (board.uncovered || []).map(([word, n]) => chip(word, n, `Give ${word} a label, ${n} times in the text`, () => ask(word), { word, from: null }, true)));
  fill($("unsure"), board.unsure?.length ? board.unsure.map((one) => h("span", {},
    chip(one.word, one.count, `Give ${one.word} a label, ${one.count} times in the text`, () => ask(one.word), { word: one.word, from: null }, true),
    h("small", { class: "soft" }, ` ${one.labels.join(" or ")}`))) : h("p", { class: "soft" }, "Listed once the model tags with the words of the board."));
  $("coverage-section").hidden = !board.columns.some((one) => one.words.length);
  fill($("coverage"), board.prototype_share === undefined ? h("p", { class: "soft" }, "Counting …") : [
    h("div", { class: "big" }, percent(board.prototype_share + board.linked_share)),
    h("p", { class: "soft" }, `${percent(board.prototype_share)} of all tokens are words of the board, ${percent(board.linked_share)} are like one.`),
    board.alike ? null : h("p", { class: "soft" }, "Still learning which words are alike …")]);
}

export function showSample(view, open) {
  const n = view.sample.reduce((sum, one) => sum + one.changed.length, 0);
  $("sample-text").textContent = !view.sample.length ? "Sentences appear here as soon as the model tags."
    : `${n ? `${counted(n, "tag")} ${n === 1 ? "is" : "are"} marked: the last edit changed ${n === 1 ? "it" : "them"}` : "No tag changed by the last edit"}. Press a number to correct the sentence.`;
  fill($("sample"), view.sample.map((one) => h("p", { class: "tokens small" },
    h("button", { type: "button", class: "chip", "aria-label": `Open sentence ${one.row + 1}`, onclick: () => open(one.row) }, many(one.row + 1)), " ",
    one.tokens.map((word, at) => {
      const tag = shown(view, one.tags[at]), changed = one.changed.includes(at), part = spanPart(view, one.tags, at);
      return [h("span", { class: `token${changed ? " changed" : ""}${part}`, "data-tag": tag, tag: tag && hue(view, tag) }, h("bdi", {}, word), tag && !part.includes("inner") ? h("sup", {}, bare(view, tag)) : null,
        changed ? h("span", { class: "hidden" }, " (changed)") : null), " "];
    }))));
}

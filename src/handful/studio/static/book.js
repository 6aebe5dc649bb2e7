// The label book: guidelines, and a line for each label that opens a dialog to edit, rename, merge or delete it.
import { ask, inTurn, post } from "./api.js";
import { $, color, counted, fill, h, many, say } from "./dom.js";

let labels = [], book = { guidelines: "", entries: {} }, act = null, shown = -1;

// The book changes seldom: it is read again after an action on it, and when the page opens.
export const showBook = inTurn(async () => {
  const facts = await ask("book");
  if (!facts) return;
  book = facts;
  if (document.activeElement !== $("guidelines")) $("guidelines").value = book.guidelines;
  draw();
});

export function bookChanged(view) {
  const changed = JSON.stringify(view.labels) !== JSON.stringify(labels);
  labels = view.labels;
  if (changed || shown < 0) { shown = view.version; showBook(); }
}

function draw() {
  const described = labels.filter((label) => book.entries[label.name]?.description);
  fill($("guide-text"), book.guidelines.split("\n").filter(Boolean).map((line) => h("p", {}, line)),
    h("dl", { class: "cells" }, described.map((label) => [h("dt", { class: "swatch", tag: color(label) }, label.name),
      h("dd", {}, book.entries[label.name].description, book.entries[label.name].examples.map((text) => h("div", { class: "soft" }, `“${text}”`)))])),
    !book.guidelines && !described.length ? h("p", { class: "soft" }, "None yet. Write some in Guidelines.") : null);
  fill($("entries"), labels.map((label) => {
    const entry = book.entries[label.name] || { description: "", examples: [] };
    return h("tr", { key: label.name }, h("td", {}, h("button", { type: "button", class: "swatch", tag: color(label), "data-entry": label.name, "aria-label": `Edit ${label.name}`, onclick: () => edit(label, entry) }, label.name)),
      h("td", {}, label.key ? h("kbd", {}, label.key) : ""), h("td", {}, many(label.count)), h("td", {}, entry.description, entry.examples.map((text) => h("div", { class: "soft" }, `“${text}”`))));
  }));
}

function edit(label, entry) {
  const dialog = $("label-dialog"), others = labels.filter((one) => one.name !== label.name);
  for (const what of ["key", "color", "description"]) $(`label-${what}`).value = entry[what] || "";
  $("label-name").value = label.name;
  $("label-key").placeholder = label.key;
  $("label-examples").value = entry.examples.join("\n");
  fill($("label-into"), others.map((one) => h("option", { value: one.name }, one.name)));
  $("label-merge").disabled = !others.length;
  $("label-count").textContent = `${counted(label.count, "use")}. Merging and deleting can be undone.`;
  dialog.returnValue = "no";
  dialog.showModal();
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue === "delete") await act("deletions", { label: label.name }, `Deleted: ${label.name}`);
    else if (dialog.returnValue === "merge") await act("renames", { label: label.name, to: $("label-into").value }, `${label.name} is now ${$("label-into").value}`);
    else if (dialog.returnValue === "save") await save(label, $("label-name").value.trim());
    else return;
    showBook();
  }, { once: true });
}

async function save(label, name) {
  const fields = Object.fromEntries(["key", "color", "description"].map((what) => [what, $(`label-${what}`).value]));
  await act("entries", { label: label.name, ...fields, examples: $("label-examples").value.split("\n").filter(Boolean) }, `Saved: ${name}`);
  if (name !== label.name) await act("renames", { label: label.name, to: name }, `${label.name} is now ${name}`);
}

export function startBook(doAct) {
  act = doAct;
  $("guidelines-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    await act("guidelines", { text: $("guidelines").value }, "Guidelines saved");
    showBook();
  });
  $("book-export").addEventListener("click", async () => { const reply = await post("exports", { what: "book" }); if (reply) say(`Written: ${reply.files.join(", ")}`); });
}

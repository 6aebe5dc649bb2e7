// The list of all rows: search, filter, suggested labels, likely errors; rows are selected and labeled, or reviewed in groups.
import { ask, post } from "./api.js";
import { $, color, counted, fill, h, many, percent } from "./dom.js";

const KINDS = { all: "all rows", unlabeled: "without a label", labeled: "with a label", errors: "likely wrong", conflicts: "labeled differently twice",
  skipped: "skipped", unsure: "unsure", notes: "with a note", changed: "changed since they were labeled" };
let page = 0, open = null, act = null, audit = null, last = null, listed = [], view = null, asked = 0;
const chosen = new Set();

export function startRows(onOpen, doAct, onAudit) {
  [open, act, audit] = [onOpen, doAct, onAudit];
  const again = () => { page = 0; chosen.clear(); refreshRows(); };
  $("search").addEventListener("submit", (event) => event.preventDefault());
  let wait = 0;
  $("query").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(again, 200); });
  for (const id of ["show", "threshold"]) $(id).addEventListener("change", again);
  $("before").addEventListener("click", () => { page -= 1; refreshRows(); });
  $("after").addEventListener("click", () => { page += 1; refreshRows(); });
  $("all").addEventListener("change", (event) => { for (const row of listed) choose(row, event.target.checked); drawChosen(); });
  $("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], boxes = [...document.querySelectorAll("#list input")], at = boxes.indexOf(event.target);
    if (step && at >= 0) { event.preventDefault(); boxes[Math.max(0, Math.min(at + step, boxes.length - 1))].focus(); }
  });
  $("accept-all").addEventListener("click", () => act("accepted", { ...group() }, "Suggestions accepted").then(refreshRows));
  $("audit-group").addEventListener("click", () => audit(group()));
}

const group = () => ({ label: $("show").value.replace("review:", ""), threshold: $("threshold").value / 100 });
const reviewing = () => $("show").value.startsWith("review:");

export async function refreshRows(facts = view) {
  view = facts;
  const show = $("show").value || "all";
  const kinds = [...Object.entries(KINDS), ...(view.review ? [["review:", "suggestions to review"], ...view.labels.map((label) => [`review:${label.name}`, `suggested ${label.name}`])] : []),
    ...view.labels.map((label) => [`label:${label.name}`, `labeled ${label.name}`])];
  if ($("show").children.length !== kinds.length || document.activeElement !== $("show")) fill($("show"), kinds.map(([value, text]) => h("option", { value, selected: value === show }, text)));
  asked += 1;
  const turn = asked, reply = await ask("rows", { query: $("query").value, show, page, threshold: $("threshold").value || 0 });
  if (!reply || turn !== asked) return; // a newer answer is on its way
  $("found").textContent = reply.n ? `${counted(reply.n, "row")}, page ${reply.page + 1} of ${reply.pages}`
    : "No row is like that. Search for another text, or show all rows.";
  $("before").disabled = page <= 0;
  $("after").disabled = page + 1 >= reply.pages;
  $("review").hidden = $("threshold-label").hidden = !reviewing();
  $("list-suggested").textContent = reviewing() ? "suggested" : "model says";
  if (reply.audit) showAudit(reply);
  listed = reply.rows.map((row) => row.row);
  const inList = document.activeElement?.closest?.("#list");
  fill($("list"), reply.rows.map(line));
  drawChosen();
  if (inList && !$("list").contains(document.activeElement)) (document.querySelector("#list input") || $("show")).focus();
}

const swatch = (name, own = false) => h("span", { class: own ? "swatch own" : "swatch", tag: color(view.labels.find((label) => label.name === name)) }, name);
function line(row) {
  return h("tr", { key: row.row, "data-row": row.row },
    h("td", {}, h("input", { type: "checkbox", "aria-label": `Select row ${row.row + 1}`, onclick: (event) => pick(row.row, event) })),
    h("td", {}, h("button", { type: "button", "aria-label": `Open row ${row.row + 1}`, onclick: () => open(row.row) }, many(row.row + 1))),
    h("td", {}, row.label === null ? row.mark || "" : swatch(row.label, row.own),
      row.rather ? h("span", { class: "bad" }, ` likely ${row.rather}`) : null, row.second ? h("span", { class: "soft" }, ` · ${row.second.by}: ${row.second.label}`) : null),
    h("td", {}, reviewing() ? [swatch(row.suggested), row.suggested_confidence === null ? "" : ` ${percent(row.suggested_confidence)}`] : row.suggestion === null ? "" : [swatch(row.suggestion), ` ${percent(row.confidence)}`]),
    h("td", { dir: "auto" }, h("div", { class: "clipped" }, row.text), row.note ? h("div", { class: "soft" }, `Note: ${row.note}`) : null));
}

function showAudit({ n, audit: { n: checked, wrong, low, high } }) {
  $("review-text").textContent = checked ? `Of ${counted(checked, "random row")} of these, labeled without the suggestion, ${many(wrong)} ${wrong === 1 ? "is" : "are"} wrong: ${percent(wrong / checked)}, 90% interval ${percent(low)} to ${percent(high)}.`
    : "Nothing is known of these suggestions: label some random rows of these, without seeing the suggestion.";
  $("accept-all").textContent = `Accept all ${many(n)}`;
  $("accept-all").disabled = $("audit-group").disabled = !n;
}

const choose = (row, on) => (on ? chosen.add(row) : chosen.delete(row));
function pick(row, event) {
  const from = listed.indexOf(last), to = listed.indexOf(row), on = event.target.checked;
  if (event.shiftKey && from >= 0) for (const other of listed.slice(Math.min(from, to), Math.max(from, to) + 1)) choose(other, on);
  choose(row, on);
  last = row;
  drawChosen();
}
function drawChosen() {
  for (const box of document.querySelectorAll("#list input")) box.checked = chosen.has(Number(box.closest("tr").dataset.row));
  $("all").checked = listed.length > 0 && listed.every((row) => chosen.has(row));
  fill($("chosen"), chosen.size ? [h("span", {}, `${counted(chosen.size, "row")} selected`),
    h("select", { id: "chosen-label", "aria-label": "Label" }, view.labels.map((label) => h("option", { value: label.name }, label.name))),
    h("button", { type: "button", id: "chosen-ok", disabled: !view.labels.length, onclick: () => labelChosen($("chosen-label").value) }, "Label them"),
    ...(reviewing() ? [h("button", { type: "button", onclick: () => onChosen("accept") }, "Accept"), h("button", { type: "button", onclick: () => onChosen("reject") }, "Reject")] : [])]
    : h("span", { class: "soft" }, "Select rows to label them together."));
}

// Keys act on the selected rows, or on the one that has the focus.
function targets() {
  const row = document.activeElement?.closest?.("#list tr")?.dataset.row;
  return chosen.size ? [...chosen] : row === undefined ? [] : [Number(row)];
}
async function acted(route, body, text) {
  const items = targets();
  if (!items.length) return;
  chosen.clear();
  await act(route, { ...body, items }, `${counted(items.length, "row")}: ${text}`, items);
  refreshRows();
}
export const labelChosen = (label) => acted("labels", { label }, label);
export const onChosen = (what) => acted(`${what}ed`, what === "accept" ? group() : {}, `${what}ed`);
export const isReviewing = () => !$("rows").hidden && reviewing();

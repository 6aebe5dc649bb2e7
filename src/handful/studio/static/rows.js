// The list of all rows: search, filter, given and suggested labels, likely errors.
import { ask } from "./api.js";
import { $, counted, fill, h, many, percent } from "./dom.js";

const KINDS = { all: "all rows", unlabeled: "without a label", labeled: "with a label", errors: "likely wrong", skipped: "skipped", unsure: "unsure" };
let page = 0, open = null;

export function startRows(onOpen, current) {
  open = onOpen;
  const again = () => { page = 0; refreshRows(current()); };
  $("search").addEventListener("submit", (event) => event.preventDefault());
  let wait = 0;
  $("query").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(again, 200); });
  $("show").addEventListener("change", again);
  $("before").addEventListener("click", () => { page -= 1; refreshRows(current()); });
  $("after").addEventListener("click", () => { page += 1; refreshRows(current()); });
}

export async function refreshRows(view) {
  const chosen = $("show").value || "all";
  const kinds = [...Object.entries(KINDS), ...view.labels.map((label) => [`label:${label.name}`, `labeled ${label.name}`])];
  fill($("show"), kinds.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  const facts = await ask("rows", { query: $("query").value, show: chosen, page });
  if (!facts) return;
  $("found").textContent = facts.n ? `${counted(facts.n, "row")}, page ${facts.page + 1} of ${facts.pages}`
    : "No row is like that. Search for another text, or show all rows.";
  $("before").disabled = page <= 0;
  $("after").disabled = page + 1 >= facts.pages;
  fill($("list"), facts.rows.map((row) => h("tr", {},
    h("td", {}, h("button", { type: "button", "aria-label": `Open row ${row.row + 1}`, onclick: () => open(row.row) }, many(row.row + 1))),
    h("td", {}, row.label === null ? row.mark || "" : row.own ? h("strong", {}, row.label) : row.label,
      row.rather ? h("span", { class: "bad" }, ` likely ${row.rather}`) : null),
    h("td", {}, row.suggestion === null ? "" : `${row.suggestion} ${percent(row.confidence)}`),
    h("td", { dir: "auto" }, row.text))));
}

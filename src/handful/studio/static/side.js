// The side of a table: accuracy, learning curve with forecast, labels, likely errors.
import { $, color, counted, fill, h, many, percent, s } from "./dom.js";

export function showSide(view, actions) {
  showAudit(view, actions);
  showCurve(view.panel, view.goal);
  showClasses(view.labels);
  showAgreement(view.agreement, actions);
  const n = view.panel.n_errors;
  fill($("errors"), n === undefined || n === null ? h("p", { class: "soft" }, "Shown after a few labels of two classes.")
    : n === 0 ? h("p", {}, "None.")
      : h("button", { type: "button", onclick: () => actions.list("errors") }, `${counted(n, "label")} to look at`));
}

export function showClasses(labels) {
  const most = Math.max(1, ...labels.map((label) => label.count));
  fill($("classes"), labels.length ? labels.map((label) => h("div", { class: "bar", tag: color(label) },
    h("span", {}, label.name),
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", height: 10 },
      s("rect", { width: (100 * label.count) / most, height: 10, rx: 2 })),
    h("span", {}, many(label.count)))) : h("p", { class: "soft" }, "None yet."));
}

function showAgreement(facts, actions) {
  $("agreement-section").hidden = !facts;
  if (!facts) return;
  fill($("agreement"), h("div", { class: "big" }, facts.kappa === null ? "–" : facts.kappa.toFixed(2)),
    h("p", { class: "soft" }, `Cohen's kappa${facts.kappa === null ? " is undefined with one label" : ""}. ${percent(facts.same / facts.n)} of ${counted(facts.n, "row")} got the same label twice, 90% interval ${percent(facts.low)} to ${percent(facts.high)}.`),
    facts.n_conflicts ? h("button", { type: "button", id: "conflicts", onclick: () => actions.list("conflicts") }, `${counted(facts.n_conflicts, "conflict")} to settle`) : null);
}

// Only random items from now on, and back; as long as accuracy is unknown, or only random ones come.
export function randomOnly(view, known, what, press) {
  const again = view.strategy !== "auto";
  return known && !again ? null : h("button", { type: "button", id: "random-only", "aria-pressed": String(again), onclick: press },
    again ? `Informative ${what} again` : `Label random ${what} only`);
}
function showAudit(view, actions) {
  const { panel } = view;
  const { audit, n_needed: missing } = panel, strategy = randomOnly(view, audit, "rows", actions.random);
  const failed = panel.error ? h("p", { class: "bad" }, panel.error) : null;
  if (!audit) {
    fill($("audit"), h("p", {}, missing === undefined ? "Measured on random rows, every fifth one."
      : `Label ${counted(missing, "more random row")} to know. Every fifth row is random.`), strategy, failed);
    return;
  }
  const x = (share) => 4 + 192 * share;
  fill($("audit"), h("div", { class: "big" }, percent(audit.accuracy)),
    s("svg", { viewBox: "0 0 200 14", role: "img", "aria-label": `between ${percent(audit.low)} and ${percent(audit.high)}` },
      s("line", { x1: 4, x2: 196, y1: 7, y2: 7, class: "grid" }),
      s("rect", { x: x(audit.low), width: x(audit.high) - x(audit.low), y: 3, height: 8, rx: 4, class: "band" }),
      s("circle", { cx: x(audit.accuracy), cy: 7, r: 5, class: "estimate" })),
    h("p", { class: "soft" }, `90% interval ${percent(audit.low)} to ${percent(audit.high)}, on ${counted(audit.n_rows, "random row")}`), strategy, failed);
}

function showCurve(panel, goal) {
  const { curve } = panel;
  const forecast = panel.forecast && curve && Object.fromEntries(["n", "mean", "low", "high"].map((key) => [key, [curve[key].at(-1), ...panel.forecast[key]]])); // goes on from the curve
  const words = [panel.goal, panel.n_needed ? "Measured on random rows, as soon as there are 20." : panel.refused].filter(Boolean).map((text) => h("p", {}, text));
  if (!curve || curve.n.length < 2) {
    fill($("curve"), words.length ? words : h("p", { class: "soft" }, "The curve comes after the first dozen labels."));
    return;
  }
  const last = forecast ? forecast.n.at(-1) : curve.n.at(-1), first = Math.min(curve.n[0], last - 1);
  const low = Math.min(...curve.low, ...(forecast ? forecast.low : [])), high = Math.max(goal, ...curve.high, ...(forecast ? forecast.high : []));
  const x = (n) => 34 + (260 * (n - first)) / (last - first), y = (v) => 118 - (96 * (v - low)) / (high - low || 1);
  const path = (line, key) => line.n.map((n, i) => `${x(n).toFixed(1)},${y(line[key][i]).toFixed(1)}`);
  const band = (line) => s("polygon", { class: "band", points: [...path(line, "low"), ...path(line, "high").reverse()].join(" ") });
  const draw = (line, more = "") => s("polyline", { class: `line ${more}`, points: path(line, "mean").join(" ") });
  const text = `Accuracy ${percent(curve.mean[0])} with ${counted(curve.n[0], "label")}, ${percent(curve.mean.at(-1))} with ${curve.n.at(-1)}`
    + (forecast ? `; ${percent(forecast.mean.at(-1))} expected with ${last}.` : ".");
  fill($("curve"), s("svg", { viewBox: "0 0 300 154", role: "img", "aria-label": text },
    s("line", { x1: 34, x2: 294, y1: y(goal), y2: y(goal), class: "reach" }),
    [low, (low + high) / 2, high].map((v) => s("text", { x: 30, y: y(v) + 4, "text-anchor": "end" }, Math.round(100 * v))),
    s("text", { x: 34, y: 11 }, "accuracy, %"), s("text", { x: 294, y: 150, "text-anchor": "end" }, "labels"),
    band(curve), draw(curve), forecast ? [band(forecast), draw(forecast, "ahead")] : null,
    [curve.n[0], curve.n.at(-1), ...(forecast ? [last] : [])].map((n) => s("text", { x: x(n), y: 135, "text-anchor": n === last ? "end" : "middle" }, n))),
  words);
}

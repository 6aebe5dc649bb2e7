// Playback: labels that spread over a map of rows, step by step, with the boundary and the line of any label.
import { ask } from "./api.js";
import { command } from "./frame.js";
import { $, color, fill, h, many, percent, s } from "./dom.js";

const W = 720, H = 480, EDGE = 14, CELL = 8;
const DONE = { spread: "take a label", condensed: "are kept", changed: "change their prediction" };
const WHY = { first: "it was the first", wrong: "the rows before would get it wrong", unsure: "the rows before would be unsure of it" };
let played = null, when = null, dots = [], hues = [], open = null, timer = 0;
const kind = () => $("map-kind").value;
const step = () => Number($("step").value);
const x = (i) => EDGE + played.x[i] * (W - 2 * EDGE), y = (i) => H - EDGE - played.y[i] * (H - 2 * EDGE);
const now = (i) => (when[i] < step() ? played.after[i] : played.start[i]);
const name = (i) => (now(i) < 0 ? "no label yet" : played.classes[now(i)]);
const rowName = (i) => `row ${many(played.rows[i] + 1)}`;

export async function showMap(labels, onOpen) {
  open = onOpen;
  stop();
  $("map-text").textContent = "Drawing the map …";
  const facts = await ask("map", { kind: kind() });
  if (!facts) return;
  played = facts;
  const tokens = getComputedStyle(document.documentElement); // the canvas knows no variables
  hues = facts.classes.map((one) => color(labels.find((label) => label.name === one)).replace(/var\((.*)\)/, (_, token) => tokens.getPropertyValue(token)));
  when = new Array(facts.rows.length).fill(Infinity);
  facts.steps.forEach((i, at) => { when[i] = at; });
  $("step").max = facts.steps.length;
  $("step").value = 0;
  $("play").disabled = !facts.steps.length;
  dots = facts.rows.map((_, i) => s("circle", {
    cx: x(i), cy: y(i), r: facts.labeled[i] < 0 ? 4.5 : 6.5, role: "button", tabindex: i ? -1 : 0,
    onclick: () => pick(i), onfocus: () => lineage(i), onkeydown: (event) => walk(event, i),
  }));
  $("map-figure").replaceChildren(h("canvas", { width: W / CELL, height: H / CELL }),
    s("svg", { viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": "Map of rows: near rows are alike" }, s("g", { id: "kin" }), dots));
  fill($("legend"), facts.classes.map((one, code) => h("li", { tag: hues[code] }, one)));
  fill($("lineage"), "Choose a row to see where its label comes from.");
  paint();
}

// Left and right go to the next row in the order of the steps; Enter opens the row.
function walk(event, i) {
  const order = [...played.steps, ...played.rows.keys()], move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (move) pick(order[(order.indexOf(i) + move + order.length) % order.length]);
  else if (event.key === "Enter") open(played.rows[i]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
function pick(i) {
  for (const dot of dots) dot.setAttribute("tabindex", -1);
  dots[i].setAttribute("tabindex", 0);
  dots[i].focus();
}

function lineage(i) {
  const line = [i];
  while (played.parents[line.at(-1)] >= 0 && line.length <= played.rows.length) line.push(played.parents[line.at(-1)]);
  fill($("kin"), s("polyline", { class: "kin", points: line.map((one) => `${x(one)},${y(one)}`).join(" ") }));
  dots.forEach((dot, at) => dot.classList.toggle("path", line.includes(at)));
  const from = line.slice(1).map((one) => `from ${rowName(one)}${played.labeled[one] >= 0 ? " (given)" : ""}`);
  const label = played.after[i] < 0 ? "no label" : played.classes[played.after[i]];
  fill($("lineage"), `Row ${many(played.rows[i] + 1)}: ${label}, `,
    played.labeled[i] >= 0 ? "given. " : `${from.join(", ") || "from nowhere"}${when[i] < Infinity ? `, at step ${many(when[i] + 1)}` : ""}; ${percent(played.sure[i])} confident. `,
    h("button", { type: "button", onclick: () => open(played.rows[i]) }, "Open the row"));
}

function paint() {
  const n = played.steps.length, at = step(), last = played.steps[at - 1];
  dots.forEach((dot, i) => {
    dot.setAttribute("class", `dot${now(i) >= 0 ? " on" : ""}${played.labeled[i] >= 0 ? " given" : ""}${i === last || (kind() === "changed" && when[i] < at) ? " step" : ""}`);
    dot.style.setProperty("--tag", hues[now(i)]);
    dot.setAttribute("aria-label", `${rowName(i)}, ${name(i)}`);
  });
  boundary();
  const why = last === undefined ? "" : `: ${rowName(last)}, ${name(last)}${played.reasons[at - 1] ? `, since ${WHY[played.reasons[at - 1]]}` : ""}`;
  $("map-text").textContent = n ? `Step ${many(at)} of ${many(n)}${why}. ${many(n)} of ${many(played.rows.length)} rows ${DONE[kind()]}.`
    : played.classes.length < 2 ? "Labels spread once there are two of them. Label some rows first."
      : "Nothing to play: with these labels no row on the map changes.";
}

// Behind the rows each spot has the colour of the nearest row with a label, as one nearest neighbor would say on the map.
function boundary() {
  const canvas = document.querySelector("#map-figure canvas"), pen = canvas.getContext("2d");
  const some = played.rows.map((_, i) => i).filter((i) => now(i) >= 0).map((i) => [x(i), y(i), now(i)]);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  for (let row = 0; some.length && row < canvas.height; row += 1) {
    for (let column = 0; column < canvas.width; column += 1) {
      let nearest = Infinity, code = 0;
      for (const [px, py, own] of some) {
        const away = (px - (column + 0.5) * CELL) ** 2 + (py - (row + 0.5) * CELL) ** 2;
        if (away < nearest) { nearest = away; code = own; }
      }
      pen.fillStyle = hues[code];
      pen.fillRect(column, row, 1, 1);
    }
  }
}

function stop() {
  clearInterval(timer);
  timer = 0;
  fill($("play"), "Play ", command("play"));
}
export function togglePlay() {
  if (timer) { stop(); return; }
  const n = played ? played.steps.length : 0;
  if (!n) return;
  const stride = matchMedia("(prefers-reduced-motion: reduce)").matches ? n : Math.ceil(n / 120);
  if (step() >= n) $("step").value = 0;
  fill($("play"), "Stop ", command("play"));
  timer = setInterval(() => {
    $("step").value = step() + stride;
    paint();
    if (step() >= n) stop();
  }, 80);
}
export function startMap(show) {
  $("map-kind").addEventListener("change", show);
  $("step").addEventListener("input", () => { stop(); if (played) paint(); });
  $("play").addEventListener("click", togglePlay);
}

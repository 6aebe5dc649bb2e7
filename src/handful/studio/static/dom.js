// Elements by hand. Text goes in as text alone, so nothing that a file holds can become markup.
export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31",
  "#a50026", "#2d6a4f", "#b07aa1", "#6b7785"];
export const $ = (id) => document.getElementById(id);
export const color = (n) => PALETTE[n % PALETTE.length];
export const percent = (share) => `${(100 * share).toFixed(0)}%`;
export const many = (n) => n.toLocaleString("en");
export const counted = (n, what) => `${many(n)} ${what}${n === 1 ? "" : "s"}`;

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "tag") element.style.setProperty("--tag", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
export const h = (name, attributes, ...children) => build(document.createElement(name), attributes, children);
export const s = (name, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
export const fill = (element, ...children) => element.replaceChildren(...children.flat(Infinity).filter(Boolean));

let silence = 0;
export function say(text) {
  clearTimeout(silence);
  $("said").textContent = text;
  silence = setTimeout(() => { $("said").textContent = ""; }, 6000);
}

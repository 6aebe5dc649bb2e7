// Elements by hand. Text goes in as text alone, so nothing that a file holds can become markup.
const N_HUES = 12; // --hue-0 to --hue-11 in studio.css
export const $ = (id) => document.getElementById(id);
export const color = (label) => label?.color || `var(--hue-${(label?.hue ?? 0) % N_HUES})`;
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

// Elements, updated in place. Text goes in as text alone, so nothing that a file holds can become markup.
const N_HUES = 12; // --hue-0 to --hue-11 in studio.css
export const $ = (id) => document.getElementById(id);
export const color = (label) => label?.color || `var(--hue-${(label?.hue ?? 0) % N_HUES})`;
export const percent = (share) => `${(100 * share).toFixed(0)}%`;
export const many = (n) => n.toLocaleString("en");
export const counted = (n, what) => `${many(n)} ${what}${n === 1 ? "" : "s"}`;

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) { element[name] = value; (element.handlers ??= []).push(name); }
    else if (name === "key") element.key = String(value);
    else if (name === "tag") element.style.setProperty("--tag", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
export const h = (name, attributes, ...children) => build(document.createElement(name), attributes, children);
export const s = (name, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// Make the children of an element like others, in place: what is the same stays, with its focus, its scroll position and a press
// under way. Children of one `key` are the same; without keys, those at the same place with the same name.
export function fill(element, ...children) {
  const wanted = document.createDocumentFragment();
  wanted.append(...children.flat(Infinity).filter(Boolean));
  patch(element, [...wanted.childNodes]);
}
const same = (one, other) => one.nodeName === other.nodeName && one.key === other.key;
function patch(parent, wanted) {
  for (const [at, node] of wanted.entries()) {
    let held = parent.childNodes[at];
    if (held && node.key !== undefined && !same(held, node) && [...parent.childNodes].slice(at).some((one) => same(one, node))) {
      while (!same(held, node)) { held.remove(); held = parent.childNodes[at]; }
    }
    if (held && same(held, node)) update(held, node);
    else parent.insertBefore(node, held ?? null);
  }
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}
function update(held, node) {
  if (held.nodeType !== Node.ELEMENT_NODE) { if (held.nodeValue !== node.nodeValue) held.nodeValue = node.nodeValue; return; }
  for (const { name } of [...held.attributes]) if (!node.hasAttribute(name)) held.removeAttribute(name);
  for (const { name, value } of node.attributes) if (name !== "style" && held.getAttribute(name) !== value) held.setAttribute(name, value);
  const tag = node.style.getPropertyValue("--tag"); // the policy of the page allows no style attribute
  if (tag !== held.style.getPropertyValue("--tag")) held.style.setProperty("--tag", tag);
  for (const name of held.handlers || []) held[name] = null;
  for (const name of node.handlers || []) held[name] = node[name];
  held.handlers = node.handlers;
  patch(held, [...node.childNodes]);
  if (held === document.activeElement) return;
  if (node.hasAttribute("checked")) held.checked = true;
  if (node.matches("input[value]") || node.querySelector("option[selected]")) held.value = node.value;
}

let silence = 0;
export function say(text, quietly = false) { // quietly: for a screen reader alone
  clearTimeout(silence);
  $("said").classList.toggle("hidden", quietly);
  $("said").textContent = text;
  silence = setTimeout(() => { $("said").textContent = ""; }, 6000);
}

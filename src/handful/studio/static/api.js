// Talk to the server, which is this machine. Addresses are relative: the token is in the address of the page.
import { say } from "./dom.js";

const SILENT = "The studio does not answer. Start it again; what it has saved is kept, the last key may be missing.";

async function answer(promise) {
  let reply;
  try { reply = await promise; } catch { say(SILENT); return null; }
  if (reply.status === 403) { say("This session has ended. Open the link that the command printed."); return null; }
  const facts = await reply.json().catch(() => null);
  if (reply.ok && facts) return facts;
  say(reply.ok ? SILENT : facts?.error || `The studio refused that (${reply.status}).`); // ok without facts: cut off on its way
  return null;
}
// Who labels on this page; the name that the command was given unless another one was typed here.
export const person = (name) => (name === undefined ? sessionStorage.getItem("annotator") || "" : sessionStorage.setItem("annotator", name));
export const ask = (what, query = {}) => answer(fetch(`${what}?${new URLSearchParams({ ...query, by: person() })}`));
export const post = (what, body) => answer(fetch(what, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...body, by: person() }),
}));
// Never two at a time, as an older answer might follow a newer one; who calls meanwhile has it done once more.
export function inTurn(work) {
  let underWay = false, again = false;
  return async () => {
    again = true;
    if (underWay) return;
    underWay = true;
    try { while (again) { again = false; await work(); } } finally { underWay = false; }
  };
}
export function listen(onOpen, handlers) {
  const source = new EventSource("events");
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  source.addEventListener("error", () => { document.getElementById("offline").hidden = false; });
  source.addEventListener("open", () => { document.getElementById("offline").hidden = true; onOpen(); }); // again after a break, in which something may have been missed
}

// What both pages share: tabs, keys, help, undo.
import { $, say } from "./dom.js";

export function tabs(onShow) {
  const all = [...document.querySelectorAll("[role=tab]")];
  const show = (tab, byMouse = false) => {
    for (const one of all) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", chosen);
      one.tabIndex = chosen ? 0 : -1;
      $(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    onShow(tab.getAttribute("aria-controls"), byMouse);
  };
  for (const [at, tab] of all.entries()) {
    tab.addEventListener("click", () => show(tab, true));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(at + step + all.length) % all.length];
      next.focus();
      show(next);
    });
  }
  return (name) => show($(`tab-${name}`));
}

export function keys(handle) {
  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (at.matches("input:not([type=range]), select, textarea")) { if (event.key === "Escape") at.blur(); return; }
    if (["Enter", " "].includes(event.key) && at.matches("button, a, .scroll")) return;
    if (event.key === "?") $("help").showModal();
    else if (!handle(event.key, event)) return;
    event.preventDefault();
  });
  $("help-open").addEventListener("click", () => $("help").showModal());
}

// Ask for a name in a dialog; resolves to null where it was cancelled.
export function askName() {
  const dialog = $("name-dialog"), input = $("name");
  input.value = "";
  dialog.returnValue = "no";
  dialog.showModal();
  input.focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    resolve(dialog.returnValue === "ok" && input.value.trim() ? input.value.trim() : null);
  }, { once: true }));
}

export function exporting(post) {
  $("export").addEventListener("click", async (event) => {
    const what = event.target.closest("button")?.dataset.what;
    if (!what) return;
    $("exported").textContent = `Writing ${what} …`;
    const reply = await post("export", { what });
    $("exported").textContent = reply ? `Written: ${reply.files.join(", ")}` : "";
    if (reply) say(`Written: ${reply.files.join(", ")}`);
  });
}

"use strict";
(() => {
  const value = (row, column) => row.cells[column].dataset.sort;
  for (const table of document.querySelectorAll("table.ranking")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const sort = () => {
        const body = table.tBodies[0];
        const up = head.getAttribute("aria-sort") === "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [value(a, column), value(b, column)];
          if (x === "" || y === "") return (x === "") - (y === "");
          const order = column === 0 ? x.localeCompare(y) : Number(x) - Number(y);
          return up ? order : -order;
        });
        body.append(...rows);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const bar of document.querySelectorAll("[data-tip]")) {
    bar.addEventListener("pointermove", (event) => {
      tip.textContent = bar.dataset.tip;
      tip.hidden = false;
      const left = Math.min(event.pageX + 14, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${Math.max(left, 4)}px`;
      tip.style.top = `${event.pageY + 16}px`;
    });
    bar.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
})();

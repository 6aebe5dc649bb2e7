"use strict";
(() => {
  const { classes, columns, model, shift, own, confidence } = JSON.parse(document.getElementById("data").textContent);

  // -- cells as Python reads them -------------------------------------------------------------------------------------
  const MISSING = new Set(["", "?", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan",
    "null", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "-NaN", "-nan"]);
  const CURRENCY = "(?:US|C|A|R|NZ|HK|S)?\\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|kr\\.?|zł|Fr\\.";
  const escapeRe = (sign) => (sign === "." ? "\\." : ",");

  function readNumber(cell, decimal) {
    const marks = decimal === "." ? "[,' \\xa0\\u202f]" : "[.' \\xa0\\u202f]";
    const point = escapeRe(decimal);
    const text = cell.replace(/^\((.*)\)$/u, "-$1");
    const bare = text.replace(new RegExp(`^([+-]?)\\s*(?:${CURRENCY})\\s*`, "u"), "$1")
      .replace(new RegExp(`\\s*(?:%|${CURRENCY})$`, "u"), "");
    const whole = `[1-9][0-9]{0,2}(?:${marks}[0-9]{3})+|[0-9]+`;
    const isNumber = new RegExp(`^[+-]?(?:${whole})?(?:${point}[0-9]*)?(?:[eE][+-]?[0-9]+)?$`, "u").test(bare) && /^[^eE]*[0-9]/.test(bare);
    const isPrice = new RegExp(CURRENCY, "u").test(text) && new RegExp(`${point}[0-9]{3}$`, "u").test(bare);
    if (!isNumber || isPrice) return NaN;
    const value = Number(bare.replace(new RegExp(marks, "gu"), "").replace(decimal, "."));
    return Number.isFinite(value) ? value : NaN;
  }

  const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
  const CLOCK = "([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\\.[0-9]+)?))?\\s*([AaPp][Mm])?";
  const CLOCK_AT_END = new RegExp(`[T ,]+${CLOCK}(?:\\s*Z|\\s*[+-][0-9]{2}:?[0-9]{2})?$`);
  const DAY = 86400000;

  function readClock(text, pattern) {
    const found = pattern.exec(text);
    if (!found) return NaN;
    let hour = Number(found[1]);
    const [minute, second] = [Number(found[2]), Number(found[3] ?? 0)];
    if (found[4]) hour = (hour % 12) + (found[4].toLowerCase() === "pm" ? 12 : 0);
    return hour < 24 && minute < 60 && second < 61 ? hour * 3600000 + minute * 60000 + second * 1000 : NaN;
  }

  // Milliseconds since 1970.
  function readDate(cell, format) {
    if (format === "%H:%M") return readClock(cell, new RegExp(`^${CLOCK}$`));
    let day = cell.replace(CLOCK_AT_END, "").replace(/[-/., ]+/g, "-").replace(/^([0-9]{1,2})([A-Za-z])/, "$1-$2")
      .replace(/([A-Za-z]{3})[A-Za-z]*-?/, "$1-");
    if (format.endsWith("%Y")) {
      day = day.replace(/^(.+-)([0-5][0-9]|6[0-8])$/, "$120$2").replace(/^(.+-)([0-9]{2})$/, "$119$2");
    }
    if (format === "%m-%d-%Y" && /^[0-9]{1,2}\.[0-9]{1,2}\./.test(cell)) return NaN;
    const signs = format.split("-");
    const parts = day.split("-");
    if (parts.length !== signs.length) return NaN;
    const at = { "%d": 1 };
    for (let n = 0; n < signs.length; n += 1) {
      const shape = { "%Y": /^[0-9]{4}$/, "%b": /^[A-Za-z]{3}$/ }[signs[n]] ?? /^[0-9]{1,2}$/;
      if (!shape.test(parts[n])) return NaN;
      at[signs[n] === "%b" ? "%m" : signs[n]] = signs[n] === "%b" ? MONTHS.indexOf(parts[n].toLowerCase()) + 1 : Number(parts[n]);
    }
    const date = new Date(0);
    date.setUTCFullYear(at["%Y"], at["%m"] - 1, at["%d"]);
    if (date.getUTCMonth() !== at["%m"] - 1 || date.getUTCDate() !== at["%d"]) return NaN;
    return date.getTime() + (CLOCK_AT_END.test(cell) ? readClock(cell, CLOCK_AT_END) : 0);
  }

  function datePart(part, time, times) {
    if (part.startsWith("since ")) return (time - times[part.slice(6)]) / DAY;
    const date = new Date(time);
    const hour = ((((time % DAY) + DAY) % DAY) / DAY) * 24;
    if (part === "elapsed") return time / DAY;
    if (part === "year") return date.getUTCFullYear();
    if (part === "hour") return hour;
    const [cycle, wave] = part.split(" ");
    const turn = { month: date.getUTCMonth() / 12, weekday: ((date.getUTCDay() + 6) % 7) / 7, hour: hour / 24 }[cycle];
    return Math[wave](2 * Math.PI * turn);
  }

  // -- a row as numbers -----------------------------------------------------------------------------------------------
  const names = []; // of the numbers
  for (const column of columns) {
    column.start = names.length;
    if (column.kind === "numeric") names.push(column.name);
    else if (column.kind === "datetime") names.push(...column.parts.map((part) => `${column.name}: ${part}`));
    else names.push(...(column.values ?? column.words).map((value) => `${column.name}: ${value}`));
    column.places = new Map((column.values ?? column.words ?? []).map((value, place) => [value, place]));
  }
  const scaled = (value, center, scale) =>
    Number.isNaN(value) ? 0 : Math.max(-1e30, Math.min(1e30, (value - center) / scale));

  function encodeWords(column, text, row) {
    const words = text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
    const counts = new Map();
    words.forEach((word, at) => {
      for (const term of at ? [word, `${words[at - 1]} ${word}`] : [word]) {
        const place = column.places.get(term);
        if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
      }
    });
    let squares = 0;
    for (const [place, count] of counts) squares += (count * column.weights[place]) ** 2;
    for (const [place, count] of counts) row[column.start + place] = (count * column.weights[place]) / Math.sqrt(squares);
  }

  // Returns the numbers, and the names of columns whose cell cannot be read.
  function encode(cells) {
    const row = new Float64Array(names.length);
    const unread = [];
    const texts = cells.map((cell) => String(cell ?? "").trim()).map((text) => (MISSING.has(text) ? "" : text));
    const times = {};
    columns.forEach((column, at) => {
      if (column.kind === "datetime") times[column.name] = texts[at] ? readDate(texts[at], column.date_format ?? "%Y-%m-%d") : NaN;
    });
    columns.forEach((column, at) => {
      const text = texts[at];
      if (column.kind === "numeric") {
        const value = text ? readNumber(text, column.decimal ?? ".") : NaN;
        if (text && Number.isNaN(value)) unread.push(column.name);
        row[column.start] = scaled(value, column.center, column.scale);
      } else if (column.kind === "datetime") {
        if (text && Number.isNaN(times[column.name])) unread.push(column.name);
        column.parts.forEach((part, n) => {
          row[column.start + n] = scaled(datePart(part, times[column.name], times), column.centers[n], column.scales[n]);
        });
      } else if (column.kind === "categorical") {
        if (column.places.has(text)) row[column.start + column.places.get(text)] = Math.SQRT1_2;
      } else encodeWords(column, text, row);
    });
    return { row, unread };
  }

  // -- models: each returns log-probabilities by class, and why ---------------------------------------------------------
  const clipped = (text) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
  const argmax = (list) => list.reduce((best, value, at) => (value > list[best] ? at : best), 0);
  function normalized(scores) {
    const most = Math.max(...scores);
    const shares = scores.map((score) => Math.exp(score - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }
  const asScores = (values) => {
    const scores = classes.map(() => -Infinity);
    model.codes.forEach((code, at) => { scores[code] = values[at]; });
    return scores;
  };

  const MODELS = {
    rows(row) {
      const seen = row.map((value, at) => Math.max(-3, Math.min(3, value)) * model.weights[at]);
      const length = seen.reduce((sum, value) => sum + value * value, 0);
      const squares = model.rows.map((kept) => {
        let square = length;
        for (let n = 0; n < kept.length; n += 2) square += kept[n + 1] ** 2 - 2 * kept[n + 1] * seen[kept[n]];
        return Math.round(Math.max(square, 0) * 1e9) / 1e9;
      });
      const scores = classes.map(() => -1e6);
      squares.forEach((square, at) => { scores[model.codes[at]] = Math.max(scores[model.codes[at]], -square); });
      const why = (label) => {
        const order = squares.map((square, at) => at).sort((a, b) => squares[a] - squares[b] || a - b);
        const near = order.filter((at) => model.codes[at] === label).slice(0, 2);
        return [...near, ...order.filter((at) => model.codes[at] !== label).slice(0, 1)].map((at) => {
          const cells = columns.map((column, n) => [column.name, model.cells[n][at]]).filter(([, cell]) => cell !== null);
          const shown = cells.slice(0, 6).map(([name, cell]) => `${name} ${clipped(cell)}`).join(", ");
          return `like row ${model.numbers[at]} (${classes[model.codes[at]]}): ${shown}`;
        });
      };
      return { scores: scores.map((score) => score * model.temperature), why };
    },
    linear(row) {
      const margins = model.weights.map((weights, at) => {
        let sum = model.intercept[at];
        for (let n = 0; n < row.length; n += 1) if (row[n]) sum += weights[n] * row[n];
        return sum;
      });
      const why = (label, other) => {
        const lines = [label, other].map((code) => model.weights[model.codes.indexOf(code)] ?? []);
        const parts = [...row].map((value, at) => [names[at], value * ((lines[0][at] ?? 0) - (lines[1][at] ?? 0))]);
        return parts.filter(([, part]) => part).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 5)
          .map(([name, part]) => `${name}: ${part > 0 ? "+" : "−"}${Math.abs(part).toFixed(2)}`);
      };
      return { scores: asScores(margins), why };
    },
    trees(row) {
      const shares = model.codes.map(() => 0);
      const path = [];
      for (const tree of model.trees) {
        let node = 0;
        while (tree.feature[node] >= 0) {
          const isLow = Math.fround(row[tree.feature[node]]) <= tree.threshold[node];
          if (tree.words) path.push(tree.words[node][isLow ? 0 : 1]);
          node = isLow ? tree.left[node] : tree.right[node];
        }
        const value = tree.value[node];
        if (typeof value === "number") shares[value] += 1;
        else value.forEach((share, at) => { shares[at] += share; });
      }
      return { scores: asScores(shares.map((share) => Math.log(share / model.trees.length))), why: () => path };
    },
  };

  // The shares that hold what they say; see Confidence in handful/models/confidence.py.
  function calibrated(shares, label) {
    if (own) return shares;
    if (!confidence) return null;
    const { slope, offset, few, n_held: held } = confidence;
    if (few) return shares.map((share) => (few[label] * share + 1) / (few[label] + shares.length));
    const clipped = Math.max(0.005, Math.min(0.995, shares[label]));
    const rest = shares.map((share, at) => (at === label ? 0 : share));
    const total = rest.reduce((sum, share) => sum + share, 0);
    const others = rest.map((share, at) => (at === label ? 0 : total > 1e-9 ? share / total : 1 / Math.max(shares.length - 1, 1)));
    let sure = 1 / (1 + Math.exp(-(slope * Math.log(clipped / (1 - clipped)) + offset)));
    if (held !== null) sure = (held * sure + 1) / (held + 2);
    const second = Math.max(...others);
    sure = Math.max(sure, second / (1 + second) + 1e-6);
    return others.map((share, at) => (at === label ? sure : share * (1 - sure)));
  }

  function predict(cells) {
    const { row, unread } = encode(cells);
    const { scores, why } = MODELS[model.kind](row);
    const shares = normalized(shift ? scores.map((score, at) => score + shift[at]) : scores);
    const label = argmax(shares);
    return { label, shares: calibrated(shares, label), why: (other) => why(label, other), unread };
  }

  // -- the page: text goes in as text, never as markup ------------------------------------------------------------------
  const byId = (id) => document.getElementById(id);
  function element(name, text, parent, settings) {
    const made = Object.assign(document.createElement(name), settings);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  }
  const percent = (share) => `${Math.round(100 * share)}%`;

  function showRow() {
    const { label, shares, why, unread } = predict(columns.map((column, at) => byId(`c${at}`).value));
    const result = byId("result");
    result.replaceChildren();
    element("p", classes[label], result, { className: "label" });
    const order = (shares ?? []).map((share, at) => at).sort((a, b) => shares[b] - shares[a]);
    const box = element("div", undefined, result, { className: "shares" });
    for (const at of order.slice(0, 5)) {
      element("b", classes[at], box);
      element("meter", undefined, box, { value: shares[at], ariaLabel: classes[at] });
      element("span", percent(shares[at]), box);
    }
    const reasons = why(order[1] ?? (label + 1) % classes.length);
    if (reasons.length) {
      element("h3", "Why", result);
      const list = element("ul", undefined, result);
      for (const reason of reasons) element("li", reason, list);
    }
    if (unread.length) element("p", `Cannot be read, so counts as missing: ${unread.join(", ")}`, result, { className: "warning" });
  }

  function parseCsv(text) {
    const head = text.slice(0, text.search(/\r|\n|$/));
    const signs = [",", ";", "\t"];
    const sign = signs[argmax(signs.map((mark) => head.split(mark).length))];
    const rows = [];
    let [cell, row, quoted] = ["", [], false];
    const endRow = () => { row.push(cell); if (row.length > 1 || row[0] !== "") rows.push(row); [cell, row] = ["", []]; };
    for (let at = 0; at < text.length; at += 1) {
      const letter = text[at];
      if (quoted) {
        if (letter !== '"') cell += letter;
        else if (text[at + 1] === '"') { cell += '"'; at += 1; } else quoted = false;
      } else if (letter === '"' && cell === "") quoted = true;
      else if (letter === sign) { row.push(cell); cell = ""; }
      else if (letter === "\n" || letter === "\r") { if (letter === "\n" || text[at + 1] !== "\n") endRow(); }
      else cell += letter;
    }
    endRow();
    return { rows, sign };
  }

  function showRows() {
    const [summary, box, link] = [byId("summary"), byId("predictions"), byId("download")];
    const { rows, sign } = parseCsv(byId("csv").value.replace(/^\ufeff/, ""));
    const head = (rows.shift() ?? []).map((name) => name.trim());
    const missing = columns.filter((column) => !head.includes(column.name)).map((column) => column.name);
    box.replaceChildren();
    box.hidden = link.hidden = true;
    if (!rows.length) { summary.textContent = "No rows. Paste a header and rows below it."; return; }
    if (missing.length) { summary.textContent = `No column ${missing.slice(0, 5).join(", ")}. Add it.`; return; }
    const places = columns.map((column) => head.indexOf(column.name));
    const predicted = rows.map((row) => predict(places.map((place) => row[place])));
    const counts = classes.map((name, code) => predicted.filter(({ label }) => label === code).length);
    const parts = classes.map((name, code) => [name, counts[code]]).filter(([, count]) => count).sort((a, b) => b[1] - a[1]);
    const nUnread = predicted.filter(({ unread }) => unread.length).length;
    summary.textContent = `${rows.length.toLocaleString("en")} rows: ${parts.slice(0, 8).map(([name, count]) => `${name} ${count}`).join(", ")}.`
      + (nUnread ? ` ${nUnread} rows have cells that cannot be read and count as missing.` : "");
    const table = element("table", undefined, box);
    const line = element("tr", undefined, element("thead", undefined, table));
    const shown = places.slice(0, 6);
    for (const name of ["row", "prediction", "confidence", ...shown.map((place) => head[place])]) element("th", name, line, { scope: "col" });
    const body = element("tbody", undefined, table);
    predicted.slice(0, 200).forEach(({ label, shares }, at) => {
      const one = element("tr", undefined, body);
      const cells = shown.map((place) => rows[at][place] ?? "");
      for (const text of [at + 1, classes[label], shares ? percent(shares[label]) : "", ...cells]) element("td", text, one);
    });
    if (rows.length > 200) element("p", "The first 200 rows are shown.", box, { className: "note" });
    const written = (cell) => (/["\r\n]/.test(cell) || cell.includes(sign) ? `"${cell.replaceAll('"', '""')}"` : cell);
    const lines = rows.map((row, at) => {
      const { label, shares } = predicted[at];
      return [...head.map((name, n) => row[n] ?? ""), classes[label], shares ? shares[label].toFixed(4) : ""];
    });
    const csv = [[...head, "prediction", "confidence"], ...lines].map((row) => row.map(written).join(sign)).join("\n");
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([`${csv}\n`], { type: "text/csv" }));
    box.hidden = link.hidden = false;
  }

  byId("row").addEventListener("input", showRow);
  byId("row").addEventListener("submit", (event) => event.preventDefault());
  byId("predict").addEventListener("click", showRows);
  byId("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    byId("csv").value = await file.text();
    showRows();
  });
  showRow();
})();

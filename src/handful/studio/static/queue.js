// Items in advance: the next one is shown at once; actions are sent one after the other, and the page never waits for one.
import { ask, inTurn, post } from "./api.js";

export function itemQueue(show) {
  let queue = [], pending = 0, sent = 0, last = Promise.resolve(), version = -1, newest = 0, stale = false;
  const acted = new Set(); // items whose action is on its way
  const load = inTurn(async () => {
    let facts = await ask("view");
    if (facts?.version < version) facts = await ask("view"); // it was of before an action that is done
    if (facts) { show(facts); catchUp(); }
  });
  const catchUp = () => { if (!pending && (stale || newest > version)) { stale = false; load(); } };
  return {
    load,
    changed(facts) { newest = facts.version; catchUp(); },
    stale() { stale = true; catchUp(); },
    first: () => queue[0],
    pending: () => pending,
    sent: () => sent,
    idle: () => last,
    // The item on the page stays; what comes after it is as the server has it now. Returns whether it stayed.
    take(facts, jump = false) {
      version = facts.version;
      const current = queue[0], waiting = facts.queue.filter((one) => !acted.has(one.row));
      const waits = current && waiting.some((one) => one.row === current.row);
      const stays = Boolean(!jump && current && !acted.has(current.row) && waiting[0]?.reason !== "undone"
        && waiting.length && (waits || !facts.done.includes(current.row)));
      queue = stays ? [current, ...waiting.filter((one) => one.row !== current.row)] : waiting;
      return stays;
    },
    replace(item) { if (queue[0]?.row === item.row) queue[0] = { ...item, reason: queue[0].reason, random: queue[0].random }; },
    send(route, body, rows = []) {
      pending += 1;
      sent += 1;
      for (const row of rows) acted.add(row);
      queue = queue.filter((one) => !acted.has(one.row));
      last = last.then(async () => {
        const facts = await post(route, body);
        pending -= 1;
        for (const row of rows) acted.delete(row);
        if (facts) show(facts, route === "undo");
        else load();
        catchUp();
      });
      return last;
    },
  };
}

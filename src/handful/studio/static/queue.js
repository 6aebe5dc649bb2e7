// Items in advance: the next one is shown at once; actions are sent one after the other, and the page never waits for one.
export function itemQueue(post, { show, reload, catchUp }) {
  let queue = [], pending = 0, sent = 0, last = Promise.resolve();
  const acted = new Set(); // items whose action is on its way
  return {
    first: () => queue[0],
    pending: () => pending,
    sent: () => sent,
    idle: () => last,
    // The item on the page stays; what comes after it is as the server has it now. Returns whether it stayed.
    take(facts, jump = false) {
      const current = queue[0], waiting = facts.queue.filter((one) => !acted.has(one.row));
      const waits = current && waiting.some((one) => one.row === current.row);
      const stays = Boolean(!jump && current && !acted.has(current.row) && waiting[0]?.reason !== "undone"
        && waiting.length && (waits || !facts.done.includes(current.row)));
      queue = stays ? [current, ...waiting.filter((one) => one.row !== current.row)] : waiting;
      return stays;
    },
    replace(item) { if (queue[0]?.row === item.row) queue[0] = { ...item, reason: queue[0].reason, random: queue[0].random }; },
    send(body, rows = []) {
      pending += 1;
      sent += 1;
      for (const row of rows) acted.add(row);
      queue = queue.filter((one) => !acted.has(one.row));
      last = last.then(async () => {
        const facts = await post("act", body);
        pending -= 1;
        for (const row of rows) acted.delete(row);
        if (facts) show(facts, body.do === "undo");
        else reload();
        catchUp();
      });
      return last;
    },
  };
}

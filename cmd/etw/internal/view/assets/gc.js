// Collections: pauses and the heap over time, a table, and what else the command knows.
import { h, ask, amount, number } from "./ask.js";
import { state } from "./state.js";
import { gridOf, columnsOf } from "./grid.js";
import { pointsOf, legendOf } from "./points.js";
import { flagsOf, needsOf, rowsOf, summaryOf, pickRow, openRow, pageWindow, linkTo } from "./views.js";

const hues = ["gen0", "gen1", "gen2"];

export async function gc(page, signal) {
  const flags = flagsOf(page, "gc");
  delete flags.by;
  const doc = await ask("gc", flags, signal);
  const { head, rows } = rowsOf(await ask("gc", { ...flags, format: "csv" }, signal));
  if (!rows.length) return { question: "gc", root: needsOf(doc) || h("p", { class: "soft" }, "No collection is in the trace, or in this window.") };
  await page.lanes;
  const range = pageWindow(page) || (page.timeline ? [page.timeline.fromMs, page.timeline.toMs] : null);
  const common = {
    rows, at: r => Number(r.startMs), hue: r => hues[r.generation] || "gen2", range, open: openRow,
    say: r => "collection " + r.number + " (" + r.name + ", " + r.reason + ") at " + amount(r.startMs, "ms") + ": pause " + amount(r.pauseMs, "ms") + ", heap " + amount(r.beforeMB, "MB") + " to " + amount(r.afterMB, "MB"),
    pick: r => grid.selectWhere(x => x === r),
  };
  const figures = [pointsOf({ ...common, label: "pauses", value: r => r.pauseMs === "" ? NaN : Number(r.pauseMs), unit: "ms", shape: "bar" })];
  if (rows.some(r => r.afterMB !== "")) figures.push(pointsOf({ ...common, label: "heap after each collection", value: r => r.afterMB === "" ? NaN : Number(r.afterMB), unit: "MB" }));
  const grid = gridOf({
    label: "collections", rows, columns: columnsOf(head, rows), sort: "pauseMs", find: state.flags.find || "",
    pick: r => { figures.forEach(f => f.mark(r)); pickRow(page, "gc", r); }, open: openRow,
  });
  const paused = rows.reduce((n, r) => n + Number(r.pauseMs), 0);
  const more = h("p", {}, "More: ", ["generation", "reason", "suspension", "tuning"].map(by => h("span", {}, linkTo({ view: "answers", sub: "gc", flags: { by } }, "by " + by), " ")));
  return {
    question: "gc", sum: number(rows.length) + " collections, " + amount(paused, "ms") + " of pauses",
    root: [needsOf(doc), h("h2", {}, "Pauses"), figures[0], figures[1] ? [h("h2", {}, "Heap after each"), figures[1]] : null, legendOf([["gen0", "gen 0"], ["gen1", "gen 1"], ["gen2", "gen 2"]]), grid, more, summaryOf(doc)],
    take: grid.take, search: grid.search,
  };
}

// One request: where its time went, as a waterfall.
import { h, ask, amount, number } from "./ask.js";
import { gridOf, columnsOf } from "./grid.js";
import { flagsOf, needsOf, rowsOf, rowDetail, pickRow, openRow, linkTo, causesOf, hueOfCause } from "./views.js";

// verbs say a cause as a sentence does.
const verbs = { running: "it ran", awaiting: "it awaited", queued: "it was queued", blocked: "it was blocked", lock: "it waited for locks", gc: "it stood still for collections", jit: "code was compiled for it", others: "it waited for work of others", ready: "it was ready to run" };

export async function request(page, signal, id) {
  const flags = flagsOf(page, "requests");
  delete flags.by;
  const of = (by, why) => ask("requests", { ...flags, ...why, by, format: "csv" }, signal).then(rowsOf);
  const [all, causes, path, doc] = await Promise.all([of("activity"), of("cause", { why: id }), of("path", { why: id }), ask("requests", { ...flags, why: id, by: "path" }, signal)]);
  const r = all.rows.find(r => r.id === id), back = h("p", {}, linkTo({ view: "requests" }, "All requests"));
  if (!r) return { question: "requests", root: [back, h("p", { class: "note" }, "No request of this id ended in the trace, or in this window.")] };
  const rows = path.rows, begin = Number(r.startMs), long = Number(r.durationMs);
  const sums = causes.rows.filter(c => Number(c.totalMs) > 0), most = sums[0];
  const grid = rows.length ? gridOf({ label: "parts", rows, columns: columnsOf(path.head, rows), sort: null, pick: x => pickRow(page, "requests", x), open: openRow }) : null;
  const detail = rowDetail(page, "requests", r);
  return {
    question: "requests", more: { why: id, by: "path" }, sum: amount(long, "ms") + " in " + number(rows.length) + " parts",
    root: [
      back, h("h2", {}, h("bdi", {}, r.name || r.task)), needsOf(doc),
      most ? h("p", {}, "For " + number(Number((most.totalMs / long * 100).toPrecision(3))) + " % of its " + amount(long, "ms") + " " + (verbs[most.kind] || most.kind), most.name ? [" (", h("bdi", {}, most.name), ")"] : "", ": " + amount(most.totalMs, "ms") + ".") : h("p", { class: "soft" }, "The trace does not tell where its time went."),
      causesOf(Object.fromEntries(sums.map(c => [c.kind + "Ms", c.totalMs]))),
      waterfall(sums, rows, begin, long), grid,
    ],
    begin: () => page.detail(detail), take: grid?.take, search: grid?.search,
  };
}

// waterfall has a line for each cause, with its parts where they lie in the time of the request.
function waterfall(sums, rows, begin, long) {
  const names = [...new Set(sums.map(c => c.kind))];
  return h("div", { class: "waterfall", role: "img", "aria-label": "where the time went; the table below has all parts" }, names.map(kind => {
    const line = h("div", { class: "falls" });
    let last = -1;
    const own = rows.filter(p => p.kind === kind);
    if (!own.length) line.append(h("span", { class: "soft" }, "within other parts")); // whose names say how much of it they have
    for (const p of own) {
      const from = Math.max((Number(p.startMs) - begin) / long * 100, 0), wide = Math.max(Math.min(Number(p.durationMs) / long * 100, 100 - from), 0.1);
      if (from < last) continue; // it would lie upon the one before
      last = from + 0.05;
      const i = h("i", { title: kind + " " + amount(p.durationMs, "ms") + " at " + amount(p.startMs, "ms") });
      i.style.left = from + "%";
      i.style.width = wide + "%";
      i.style.background = "var(--" + hueOfCause(kind) + ")";
      line.append(i);
    }
    const sum = sums.filter(c => c.kind === kind).reduce((n, c) => n + Number(c.totalMs), 0);
    return [h("span", {}, kind === "jit" ? "compiling" : kind), line, h("span", { class: "num" }, amount(sum, "ms"))];
  }), h("span", {}), h("div", { class: "falls axis" }, h("span", {}, amount(begin, "ms")), h("span", {}, amount(begin + long, "ms"))), h("span", {}));
}

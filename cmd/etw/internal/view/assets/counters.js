// Counters: a chart of each over time, and their table.
import { h, ask, amount, number } from "./ask.js";
import { state } from "./state.js";
import { gridOf, columnsOf } from "./grid.js";
import { pointsOf } from "./points.js";
import { flagsOf, needsOf, rowsOf, rowDetail, pageWindow } from "./views.js";

const mostCharts = 24;

export async function counters(page, signal) {
  const flags = flagsOf(page, "counters");
  delete flags.by;
  const doc = await ask("counters", flags, signal);
  const [of, points] = await Promise.all(["counter", "point"].map(by => ask("counters", { ...flags, by, format: "csv" }, signal).then(rowsOf, e => { if (e.name === "AbortError") throw e; return { head: [], rows: [] }; })));
  if (!of.rows.length) return { question: "counters", root: needsOf(doc) || h("p", { class: "soft" }, "No counter is in the trace, or in this window.") };
  await page.lanes;
  const key = r => [r.pid, r.provider, r.name, r.tags, r.of].join("|"), values = Map.groupBy(points.rows, key);
  const range = pageWindow(page) || (page.timeline ? [page.timeline.fromMs, page.timeline.toMs] : null), numberOf = r => r.value === "" ? NaN : Number(r.value);
  const charts = of.rows.slice(0, mostCharts).filter(c => values.get(key(c))?.some(r => Number.isFinite(numberOf(r)))).map(c => {
    const title = [c.name, c.tags, c.of === "mean" ? "" : c.of].filter(Boolean).join(" "), unit = (c.unit || "").replace(/^\{(.*)\}$/, "$1"), rows = values.get(key(c));
    const chart = pointsOf({
      label: title, rows, at: r => Number(r.atMs), value: numberOf, hue: () => "cpu", unit: /^(ms|MB|%)$/.test(unit) ? unit : "", shape: "line", range,
      say: r => amount(numberOf(r), unit) + " at " + amount(r.atMs, "ms"), pick: () => grid.selectWhere(x => x === c), open: () => {},
    });
    return h("figure", {}, h("h2", {}, h("bdi", {}, title), h("span", { class: "soft" }, " " + unit)), chart);
  });
  const grid = gridOf({ label: "counters", rows: of.rows, columns: columnsOf(of.head, of.rows), sort: null, find: state.flags.find || "", pick: r => page.detail(rowDetail(page, "counters", r)) });
  return {
    question: "counters", sum: number(of.rows.length) + " counters, " + number(points.rows.length) + " values",
    root: [needsOf(doc), h("div", { class: "charts" }, charts), of.rows.length > mostCharts ? h("p", { class: "soft" }, "Charts are of the first " + mostCharts + "; lanes of all are in the overview.") : null, grid],
    take: grid.take, search: grid.search,
  };
}

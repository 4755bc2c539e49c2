// Requests: a dot for each, their endpoints, and a table of those that are shown.
import { h, ask, amount, number } from "./ask.js";
import { state, go, keep } from "./state.js";
import { gridOf, columnsOf } from "./grid.js";
import { pointsOf, legendOf } from "./points.js";
import { request } from "./request.js";
import { flagsOf, needsOf, rowsOf, pickRow, rowDetail, openRow, pageWindow, cleared } from "./views.js";

const failed = r => Number(r.status) >= 500 || /fail|error|exception/i.test(r.status || "");

// columns begin with the name, to which there is room, and endpoints of one name with who tells of them.
function columns(head, rows) {
  const isName = c => /^(endpoint|name)$/.test(c.key) || c.key === "provider" && new Set(rows.map(r => r.endpoint)).size < rows.length && rows[0].endpoint != null;
  const all = columnsOf(head, rows).map(c => ({ ...c, wide: isName(c) }));
  return [...all.filter(isName), ...all.filter(c => !isName(c))];
}

export async function requests(page, signal) {
  if (state.sub) return request(page, signal, state.sub);
  const flags = flagsOf(page, "requests");
  delete flags.by;
  const doc = await ask("requests", flags, signal);
  const [ends, all] = await Promise.all([ask("requests", { ...flags, by: "endpoint", format: "csv" }, signal), ask("requests", { ...flags, by: "activity", format: "csv" }, signal)].map(p => p.then(rowsOf)));
  if (!all.rows.length) return { question: "requests", root: needsOf(doc) || h("p", { class: "soft" }, "No request ended in the trace, or in this window.") };
  await page.lanes;
  const route = state.flags.route || "";
  const chosen = route ? all.rows.filter(r => matches(route, r.name)) : all.rows;
  const pick = r => { dots.mark(r); keep({ req: r.id }); pickRow(page, "requests", r); };
  const dots = pointsOf({
    label: "requests", rows: chosen, at: r => Number(r.startMs), value: r => Number(r.durationMs), hue: r => failed(r) ? "bad" : "cpu", unit: "ms", log: true,
    range: pageWindow(page) || (page.timeline ? [page.timeline.fromMs, page.timeline.toMs] : null),
    say: r => [r.name || r.task, amount(r.durationMs, "ms"), "at " + amount(r.startMs, "ms"), r.status].filter(Boolean).join(", "),
    pick: r => rows.selectWhere(x => x === r), open: enter,
  });
  const rows = gridOf({ label: "requests", rows: chosen, columns: columns(all.head, chosen), sort: "durationMs", find: state.flags.find || "", pick, open: enter });
  const table = ends.rows.length ? gridOf({
    label: "endpoints", rows: ends.rows, columns: columns(ends.head, ends.rows), sort: "totalMs",
    pick: r => page.detail(endpointDetail(page, r)), open: r => go({ flags: { route: r.endpoint } }),
  }) : null;
  const open = doc.processes.reduce((n, p) => n + (p.open || 0), 0), stopped = doc.processes.reduce((n, p) => n + (p.stopped || 0), 0);
  return {
    question: "requests", more: { by: "activity" }, sum: number(stopped) + " ended, " + number(open) + " not over",
    root: [
      needsOf(doc), route ? h("p", {}, h("span", { class: "chip" }, h("bdi", {}, route), h("button", { type: "button", "aria-label": "all endpoints", onclick: () => go({ flags: { route: null } }) }, "×"))) : null,
      dots, legendOf([["cpu", "ended"], ["bad", "failed"]]), table, h("h2", {}, route ? "Its requests" : "All that ended"), rows,
    ],
    begin: () => { if (state.flags.req) rows.selectWhere(r => r.id === state.flags.req); }, take: rows.take, search: rows.search,
  };
}

// enter goes into a request, if it has a name of its own.
const enter = r => r.id ? go({ sub: r.id, flags: cleared() }) : openRow(r);

// matches says whether a request is one of an endpoint, where * stands for any text.
function matches(route, name) {
  let rest = name || "";
  const parts = route.split("*"), last = parts.pop();
  for (const [i, part] of parts.entries()) {
    const at = rest.indexOf(part);
    if (at < 0 || i === 0 && at > 0) return false;
    rest = rest.slice(at + part.length);
  }
  return parts.length ? rest.endsWith(last) : rest === last;
}

// endpointDetail says all of an endpoint, and leads to its requests and causes.
function endpointDetail(page, r) {
  const d = rowDetail(page, "requests", r);
  return { ...d, acts: [["Its requests", "r", () => go({ flags: { route: r.endpoint } })], ...d.acts] };
}

// Two traces side by side: which methods have more of what is weighed, and which less.
import { h, ask, amount, number } from "./ask.js";
import { state, go } from "./state.js";
import { gridOf } from "./grid.js";
import { flagsOf, linkTo, needsOf, methodDetail } from "./views.js";

// figures shows all figures of two traces, or those of an area: collections, requests and so on.
async function figures(page, signal, before, after, choose, area) {
  const doc = await ask("compare", { ...Object.fromEntries(Object.entries(state.flags).filter(([k]) => page.compare.includes(k))), all: "true", diff: before, file: after }, signal), all = doc.measures;
  const areas = [...new Set(all.map(m => m.area))].sort(), rows = all.filter(m => areas.includes(area) ? m.area === area : true);
  const words = { more: "more", less: "less", maybeMore: "perhaps more", maybeLess: "perhaps less", onlyA: "before only", onlyB: "after only", same: "the same" };
  const grid = gridOf({
    label: "figures", rows: rows.map(m => ({ ...m, change: m.a == null || m.b == null ? null : m.b - m.a, verdict: words[m.verdict] || m.verdict, metric: m.metric })), sort: null, find: state.flags.find || "",
    columns: [{ key: "name", title: "figure", text: true, wide: true }, ...areas.includes(area) ? [] : [{ key: "area", title: "area", text: true }], { key: "a", title: "before" }, { key: "b", title: "after" }, { key: "change", title: "change", signed: true }, { key: "changePercent", title: "change", unit: "%", signed: true }, { key: "verdict", title: "verdict", text: true }],
    pick: m => page.detail({ title: m.name, text: m.metric, pairs: [["before", number(m.a)], ["after", number(m.b)], ["before, each", m.runsA.map(number).join(", ")], ["after, each", m.runsB.map(number).join(", ")], ["verdict", m.verdict]], acts: [] }),
  });
  const tabs = [["", "Weights"], ["figures", "All figures"], ...areas.map(a => [a, a])].map(([sub, text]) => { const a = linkTo({ view: "compare", sub, flags: { base: before, file: after } }, text); if (sub === area) a.setAttribute("aria-current", "true"); return a; });
  return {
    question: "compare", line: ["compare", "--all", before, after], sum: number(doc.compared) + " figures compared, " + number(doc.noiseOrSmall) + " of them noise or small",
    root: [h("div", { class: "subs" }, tabs), choose, rows.length ? grid : h("p", { class: "soft" }, "Neither of them has any of it.")], take: grid.take, search: grid.search,
  };
}

export async function compare(page, signal) {
  const before = state.flags.base ?? "0", after = state.flags.file ?? (before === "0" ? "1" : "0");
  const choose = (label, value, set) => h("label", { class: "soft" }, label + " ", h("select", { "aria-label": label, onchange: e => set(e.target.value) }, page.files.map((f, i) => h("option", { value: String(i), selected: String(i) === value }, f.name))));
  const chosen = h("div", { class: "subs" }, choose("before", before, v => go({ flags: { base: v, file: after } })), choose("after", after, v => go({ flags: { base: before, file: v } })));
  if (state.sub) return figures(page, signal, before, after, chosen, state.sub);
  const more = { diff: before, file: after }, flags = flagsOf(page, "top", more);
  const doc = await ask("top", flags, signal), rows = doc.rows, unitOf = k => /MB$/.test(k) ? "MB" : /Ms$/.test(k) ? "ms" : "";
  const keys = rows.length ? Object.keys(rows[0]).filter(k => /^(change|before|after|totalChange)/.test(k)) : []; // the pane has the other totals
  const words = { change: "self change", before: "self before", after: "self after", totalChange: "total change" };
  const grid = rows.length ? gridOf({
    label: "methods compared", rows, sort: null, find: state.flags.find || "",
    columns: [{ key: "method", title: "method", name: true }, ...keys.map(key => ({ key, title: words[key.replace(/(Ms|MB)$/, "")] || key, unit: unitOf(key), bar: /hange/.test(key), signed: /hange/.test(key) }))],
    apart: r => r.method === "[waiting]", pick: r => page.detail(methodDetail(r)), open: r => go({ view: "stacks", sub: "callers", flags: { file: after, sel: r.full, base: null } }),
  }) : h("p", { class: "soft" }, "Neither of them has any of it.");
  const per = { nanoseconds: 1e6, bytes: 1e6 }[doc.types[0].unit] || 1, unit = { nanoseconds: "ms", bytes: "MB" }[doc.types[0].unit] || doc.types[0].unit;
  return {
    question: "top", more, sum: rows.length ? amount(doc.totals[0] / per, unit) + " before, " + amount(doc.totals[1] / per, unit) + " after" : "",
    root: [
      h("div", { class: "subs" }, [["", "Weights"], ["figures", "All figures: collections, requests, counters and the rest"]].map(([sub, text]) => { const a = linkTo({ view: "compare", sub, flags: { base: before, file: after } }, text); if (!sub) a.setAttribute("aria-current", "true"); return a; })), chosen,
      before === after ? h("p", { class: "note" }, "Both are the same file: choose another.") : null, needsOf(doc),
      doc.facts?.length ? h("details", {}, h("summary", {}, "About the two"), doc.facts.map(f => h("p", { class: "soft" }, f))) : null, grid,
    ],
    take: grid.take, search: grid.search,
  };
}

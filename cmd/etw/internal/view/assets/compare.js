// Two traces side by side: which methods have more of what is weighed, and which less.
import { h, ask, amount } from "./ask.js";
import { state, go } from "./state.js";
import { gridOf } from "./grid.js";
import { flagsOf, needsOf, methodDetail } from "./views.js";

export async function compare(page, signal) {
  const before = state.flags.base ?? "0", after = state.flags.file ?? (before === "0" ? "1" : "0");
  const more = { diff: before, file: after }, flags = flagsOf(page, "top", more);
  const doc = await ask("top", flags, signal), rows = doc.rows, unitOf = k => /MB$/.test(k) ? "MB" : /Ms$/.test(k) ? "ms" : "";
  const keys = rows.length ? Object.keys(rows[0]).filter(k => /^(change|before|after|totalChange|totalBefore|totalAfter)/.test(k)) : [];
  const words = { change: "self change", before: "self before", after: "self after", totalChange: "total change", totalBefore: "total before", totalAfter: "total after" };
  const choose = (label, value, set) => h("label", { class: "soft" }, label + " ", h("select", { "aria-label": label, onchange: e => set(e.target.value) }, page.files.map((f, i) => h("option", { value: String(i), selected: String(i) === value }, f.name))));
  const grid = rows.length ? gridOf({
    label: "methods compared", rows, sort: null, find: state.flags.find || "",
    columns: [{ key: "method", title: "method", name: true }, ...keys.map(key => ({ key, title: words[key.replace(/(Ms|MB)$/, "")] || key, unit: unitOf(key), width: 136, bar: /hange/.test(key), signed: /hange/.test(key) }))],
    apart: r => r.method === "[waiting]", pick: r => page.detail(methodDetail(r)), open: r => go({ view: "stacks", sub: "callers", flags: { file: after, sel: r.full, base: null } }),
  }) : h("p", { class: "soft" }, "Neither of them has any of it.");
  const per = { nanoseconds: 1e6, bytes: 1e6 }[doc.types[0].unit] || 1, unit = { nanoseconds: "ms", bytes: "MB" }[doc.types[0].unit] || doc.types[0].unit;
  return {
    question: "top", more, sum: amount(doc.totals[0] / per, unit) + " before, " + amount(doc.totals[1] / per, unit) + " after",
    root: [
      h("div", { class: "subs" }, choose("before", before, v => go({ flags: { base: v, file: after } })), choose("after", after, v => go({ flags: { base: before, file: v } }))),
      before === after ? h("p", { class: "note" }, "Both are the same file: choose another.") : null, needsOf(doc),
      doc.facts?.length ? h("details", {}, h("summary", {}, "About the two"), doc.facts.map(f => h("p", { class: "soft" }, f))) : null, grid,
    ],
    take: grid.take, search: grid.search,
  };
}

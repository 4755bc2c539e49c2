// A heap: its types, and who holds those that are chosen.
import { h, ask, amount, number, share } from "./ask.js";
import { state, go } from "./state.js";
import { gridOf, columnsOf } from "./grid.js";
import { flagsOf, needsOf, rowsOf, rowDetail, linkTo } from "./views.js";

// The names of --holding have commas between them, so those in a name are any text.
const only = type => type.replaceAll(",", "*");

const size = bytes => amount(Number(bytes) / 1e6, "MB"), most = 300;

export async function heap(page, signal) {
  const flags = flagsOf(page, "heap");
  delete flags.by;
  const [doc, { head, rows }] = await Promise.all([ask("heap", flags, signal), ask("heap", { ...flags, format: "csv" }, signal).then(rowsOf)]);
  if (!rows.length) return { question: "heap", root: needsOf(doc) || h("p", { class: "soft" }, "No snapshot of a heap is in the trace, or in this window.") };
  const grid = gridOf({
    label: "types", rows, sort: "retainedBytes", find: state.flags.find || "",
    columns: columnsOf(head, rows).map(c => /Bytes$|^bytes$/.test(c.key) ? { ...c, bar: true } : c),
    pick: r => { page.detail(rowDetail(page, "heap", r)); holders(page, r); },
    open: r => go({ view: "answers", sub: "heap", flags: { by: "holder", holding: only(r.type) } }),
  });
  const objects = rows.reduce((n, r) => n + Number(r.count), 0), bytes = rows.reduce((n, r) => n + Number(r.bytes), 0);
  const types = linkTo({ view: "heap" }, "by type");
  types.setAttribute("aria-current", "true");
  const more = h("div", { class: "subs" }, types, ["object", "holder", "root", "snapshot", "change"].map(by => linkTo({ view: "answers", sub: "heap", flags: { by } }, "by " + by)));
  return { question: "heap", sum: number(objects) + " objects, " + size(bytes), root: [needsOf(doc), more, grid], take: grid.take, search: grid.search };
}

// holders adds to the pane who holds the objects of a type, up to the roots.
async function holders(page, r) {
  const mine = page.picked = {}, flags = { ...flagsOf(page, "heap", { by: "holder", holding: only(r.type) }), format: "csv" };
  const answer = await ask("heap", flags).then(rowsOf, e => e);
  if (page.picked !== mine) return;
  const detail = rowDetail(page, "heap", r);
  if (answer instanceof Error) return page.detail({ ...detail, more: h("p", { class: "note" }, answer.message) });
  const rows = answer.rows.filter(x => x.pid === r.pid && x.atMs === r.atMs && x.type === r.type);
  page.detail({ ...detail, more: h("div", {}, h("h3", {}, "Who holds it"), rows.slice(0, most).map(x => {
    const name = h("span", {}, h("bdi", {}, x.name));
    name.style.paddingLeft = Math.min(Number(x.depth) * 8, 160) + "px";
    return h("div", { class: "part", title: number(x.count) + " objects, " + size(x.bytes) }, name, h("span", { class: "soft" }, share(x.sharePercent) + " %"));
  }), rows.length > most ? h("p", { class: "soft" }, "and " + number(rows.length - most) + " more: Enter shows all") : null) });
}

// A table of the rows of an answer, by the table that reports have, too.
import { h, number, share, time, titleOf, short } from "./ask.js";

// gridOf shows rows. columns have: key, title, unit, text (or numbers), bar (share of the largest),
// name (a method), width, signed (a change). Rows that stand apart come last, and do not set the scale of bars. pick is called with a row that is selected, open with one that is entered.
export function gridOf({ label, columns, rows, sort, pick = () => {}, open = () => {}, find = "", apart = () => false }) {
  const texts = [], id = text => texts.push(text) - 1;
  const model = { id: label.replace(/\W/g, "-"), title: label, sort, last: rows.flatMap((r, i) => apart(r) ? [i] : []), columns: columns.map(c => columnOf(c, rows, id)) };
  const table = new DataTable(model, texts, { pick: r => pick(rows[r]), open: r => open(rows[r]) });
  const root = table.root;
  if (find) { table.input.value = find; table.select(); }
  root.search = () => table.input.focus();
  root.take = () => { table.table.focus(); if (table.chosen < 0) table.choose(0); };
  root.selectWhere = test => { const k = table.order.findIndex(r => test(rows[r])); if (k >= 0) table.choose(k); };
  return root;
}

function columnOf(c, rows, id) {
  const room = [c.title, c.unit].join(" ").length * 8 + 52; // of its head
  const of = { k: c.key, l: c.title, u: c.unit, h: c.about || "sort by " + c.title, width: c.name || c.wide ? null : c.width || Math.max(room, c.text ? 132 : 112), share: c.bar, signed: c.signed, title: r => rows[r].full && c.name ? rows[r].full : rows[r][c.key] ?? "" };
  if (!c.text && !c.name) {
    of.n = rows.map(r => r[c.key] === "" || r[c.key] == null || Number.isNaN(Number(r[c.key])) ? null : Number(r[c.key]));
    of.width = Math.max(of.width, 32 + 8 * number(of.n.reduce((most, v) => Math.max(most, Math.abs(v)), 0)).length);
    of.cell = r => { const v = rows[r][c.key]; return c.sparse && v === "" ? "" : c.time ? time(v) : (c.signed && v > 0 ? "+" : "") + (c.unit === "%" && Math.abs(v) < 1000 ? share(v) : number(v)); };
    return of;
  }
  of.t = rows.map(r => id(String(r[c.key] ?? "")));
  of.cell = r => {
    const text = String(rows[r][c.key] ?? "");
    if (c.code) return h("code", { class: "source" }, text);
    const [name, where] = c.name ? short(text) : [text, ""];
    const cell = h("span", {}, h("bdi", {}, name), where ? h("bdi", { class: "soft where" }, where) : "");
    if (c.depth) cell.style.paddingLeft = Math.min((Number(rows[r][c.depth]) || 0) * 10, 320) + "px";
    return cell;
  };
  return of;
}

// columnsOf makes columns of the rows of a command, but those that are empty, or say of each row
// whose it is where all are of one: the pane has these, too.
export function columnsOf(head, rows) {
  const names = head.filter(k => rows.length < 2 || rows.some(r => r[k] !== "") && (!/^(task|provider|pid|process|atMs)$/.test(k) || rows.some(r => r[k] !== rows[0][k])));
  // What tells rows apart comes first; commands print it last, since it is wide.
  const first = /^(method|endpoint|type|path|name|task|activity|counter|message|stack|object|assembly|holder|reason|event|image|file|disk|remote|local|source|module)$/;
  const whose = names.some(key => first.test(key)) ? 2 : 0;
  const rank = key => key === "method" ? -1 : first.test(key) ? 0 : /^(process|pid)$/.test(key) ? whose : 1;
  const order = [...names].sort((a, b) => rank(a) - rank(b));
  return order.map(key => {
    const { words, unit } = titleOf(key);
    const text = /^(pid|tid|id|status|owner)$/.test(key) || rows.slice(0, 200).some(r => r[key] !== "" && Number.isNaN(Number(r[key])));
    return { key, title: words, unit, width: { pid: 76, tid: 76, module: 180 }[key], text: text && key !== "method", wide: text && first.test(key) && key !== "module" && rows.some(r => r[key]?.length > 16), name: key === "method" || key === "full", time: /^(start|at|first|last|begin|end)Ms$/.test(key), bar: /^(total|self|duration|sum|exclusive|inclusive|max|pause)Ms$|^count$/.test(key) };
  });
}

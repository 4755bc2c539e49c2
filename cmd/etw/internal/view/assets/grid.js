// A table of any number of rows: only those that are seen are elements.
import { h, number, share, time, titleOf, short } from "./base.js";

const rowHeight = 28, headHeight = 30;

// gridOf shows rows. columns have: key, title, unit, text (or numbers), bar (share of the largest),
// name (a method), width, signed (a change). Rows that stand apart do not set the scale of bars. pick is called with a row that is selected, open with one that is entered.
export function gridOf({ label, columns, rows, sort, descending = true, pick = () => {}, open = () => {}, find = "", apart = () => false }) {
  let order = rows.map((_, i) => i), at = -1, by = sort, down = descending, sought = find;
  const col = key => columns.find(c => c.key === key);
  const value = (row, c) => c.text || c.name ? row[c.key] ?? "" : row[c.key] === "" || row[c.key] == null ? NaN : Number(row[c.key]);
  const most = new Map(columns.filter(c => c.bar).map(c => [c.key, rows.reduce((m, r) => apart(r) ? m : Math.max(m, Math.abs(value(r, c)) || 0), 0)]));

  const input = h("input", { type: "search", placeholder: "Search  /", "aria-label": "search in " + label, value: find, spellcheck: "false",
    oninput: () => { sought = input.value; arrange(); } });
  const count = h("span", { class: "soft", role: "status" });
  const head = h("div", { class: "gridrow gridhead", role: "row" });
  const body = h("div", { class: "gridbody", role: "rowgroup" }), space = h("div", { class: "gridspace", role: "presentation" }, body);
  const scroll = h("div", { class: "gridscroll", tabindex: "0", role: "grid", "aria-label": label, "aria-rowcount": rows.length + 1 }, h("div", { class: "gridtop", role: "rowgroup" }, head), space);
  const root = h("div", { class: "grid" }, h("div", { class: "gridtools" }, input, count), scroll);
  root.style.setProperty("--columns", columns.map(c => c.width || (c.name ? "minmax(240px, 5fr)" : c.text ? "minmax(96px, 1.5fr)" : "minmax(112px, 1fr)")).join(" "));
  root.style.setProperty("--least", columns.reduce((n, c) => n + Number(/\d+(?=px)/.exec(c.width)?.[0] || (c.name ? 240 : 112)), 0) + "px");

  for (const c of columns) {
    c.cell = h("div", { role: "columnheader", class: c.text || c.name ? "text" : "num" },
      h("button", { type: "button", tabindex: "-1", title: c.about || "sort by " + c.title, onclick: () => { down = by === c.key ? !down : !(c.text || c.name); by = c.key; arrange(); } },
        c.title, c.unit ? h("span", { class: "soft" }, ", " + c.unit) : null));
    head.append(c.cell);
  }

  // arrange filters and sorts.
  function arrange() {
    const words = sought.toLowerCase().split(/\s+/).filter(Boolean), selected = at >= 0 ? order[at] : -1;
    const matches = row => {
      const text = columns.filter(c => c.text || c.name).map(c => row[c.key]).join(" ").toLowerCase();
      return words.every(w => w[0] === "-" && w[1] ? !text.includes(w.slice(1)) : text.includes(w));
    };
    order = rows.map((_, i) => i).filter(i => !words.length || matches(rows[i]));
    const c = by && col(by);
    if (c) {
      order.sort((i, j) => {
        const a = value(rows[i], c), b = value(rows[j], c);
        const less = typeof a === "string" ? a.localeCompare(b) : (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b);
        return (down ? -less : less) || i - j;
      });
    }
    for (const c of columns) c.cell.setAttribute("aria-sort", c.key !== by ? "none" : down ? "descending" : "ascending");
    at = selected >= 0 ? order.indexOf(selected) : -1;
    count.textContent = order.length === rows.length ? number(rows.length) + (rows.length === 1 ? " row" : " rows") : number(order.length) + " of " + number(rows.length) + " rows";
    space.style.height = order.length * rowHeight + "px";
    draw();
  }

  function cellOf(row, c) {
    const cell = h("div", { role: "gridcell", class: c.text || c.name ? "text" : "num" });
    if (c.name) {
      const [name, where] = short(String(row[c.key] ?? ""));
      const depth = c.depth ? Number(row[c.depth]) || 0 : 0;
      cell.append(h("bdi", {}, name), where ? h("bdi", { class: "soft where" }, where) : "");
      cell.title = row.full || row[c.key];
      if (depth) cell.style.paddingLeft = Math.min(depth * 10, 320) + "px";
      return cell;
    }
    if (c.text) {
      cell.append(h("bdi", {}, String(row[c.key] ?? "")));
      cell.title = row[c.key] ?? "";
      return cell;
    }
    cell.append(c.time ? time(row[c.key]) : c.unit === "%" ? share(row[c.key]) : (c.signed && row[c.key] > 0 ? "+" : "") + number(row[c.key]));
    cell.title = row[c.key] ?? "";
    if (c.bar && most.get(c.key) > 0) {
      const bar = h("i", { class: "bar" + (!c.signed ? "" : row[c.key] > 0 ? " more" : " less") });
      bar.style.width = Math.min(Math.abs(value(row, c) || 0) / most.get(c.key), 1) * 100 + "%";
      cell.append(bar);
    }
    return cell;
  }

  // draw makes the rows that are seen, and a screen above and below.
  function draw() {
    const seen = Math.ceil(scroll.clientHeight / rowHeight) || 20;
    const first = Math.max(Math.floor(scroll.scrollTop / rowHeight) - seen, 0), last = Math.min(first + 3 * seen, order.length);
    body.style.transform = "translateY(" + first * rowHeight + "px)";
    body.replaceChildren(...order.slice(first, last).map((i, k) => h("div", {
      class: "gridrow" + (first + k === at ? " chosen" : ""), role: "row", "aria-rowindex": first + k + 2, "aria-selected": String(first + k === at), id: label.replace(/\W/g, "-") + "-" + i,
      onclick: () => select(first + k), ondblclick: () => open(rows[i]),
    }, columns.map(c => cellOf(rows[i], c)))));
    const chosen = body.querySelector(".chosen");
    if (chosen) scroll.setAttribute("aria-activedescendant", chosen.id);
    else scroll.removeAttribute("aria-activedescendant");
  }

  function select(k) {
    if (!order.length) return;
    at = Math.min(Math.max(k, 0), order.length - 1);
    const top = at * rowHeight, seen = scroll.clientHeight - headHeight;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + rowHeight > scroll.scrollTop + seen) scroll.scrollTop = top + rowHeight - seen;
    draw();
    pick(rows[order[at]]);
  }

  scroll.addEventListener("keydown", e => {
    const page = Math.max(Math.floor(scroll.clientHeight / rowHeight) - 2, 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: order.length - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); select(to); }
    else if (e.key === "Enter" && at >= 0) { e.preventDefault(); open(rows[order[at]]); }
  });
  scroll.addEventListener("scroll", () => requestAnimationFrame(draw));
  new ResizeObserver(draw).observe(scroll);
  arrange();
  root.search = () => input.focus();
  root.take = () => { scroll.focus(); if (at < 0) select(0); };
  root.selectWhere = test => { const k = order.findIndex(i => test(rows[i])); if (k >= 0) select(k); };
  return root;
}

// columnsOf makes columns of the rows of a command.
export function columnsOf(names, rows) {
  // What tells rows apart comes first; commands print it last, since it is wide.
  const first = /^(method|endpoint|type|path|name|task|activity|counter|message|stack|object|assembly|holder|reason|event|image|file|disk|remote|local|source|module)$/;
  const whose = names.some(key => first.test(key)) ? 2 : 0;
  const rank = key => first.test(key) ? 0 : /^(process|pid)$/.test(key) ? whose : 1;
  const order = [...names].sort((a, b) => rank(a) - rank(b));
  return order.map(key => {
    const { words, unit } = titleOf(key);
    const text = /^(pid|tid|id|status|owner)$/.test(key) || rows.slice(0, 200).some(r => r[key] !== "" && Number.isNaN(Number(r[key])));
    return { key, title: words, unit, text: text && key !== "method", name: key === "method" || key === "full", time: /^(start|at|first|last|begin|end)Ms$/.test(key), bar: /^(total|self|duration|sum|exclusive|inclusive|max|pause)Ms$|^count$/.test(key) };
  });
}

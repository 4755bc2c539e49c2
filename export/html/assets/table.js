"use strict";
// breakable lets a long name go to the next line where its parts end.
function breakable(text) {
  return text.split(/(?<=[.\\/,;+!:(])(?=[A-Za-z_<])/).flatMap((part, i) => i ? [document.createElement("wbr"), part] : [part]);
}

// DataTable shows a table in parts, sorts and filters it. The numbers of rows are
// those of the data, whatever the order. With an owner, {pick(row), open(row)}, it is one
// page that scrolls, of which only the rows that are seen are elements, and rows are chosen.
class DataTable {
  static pageSize = 25;
  static rowHeight = 28;
  static seen = 20; // rows, in the table that was drawn before

  constructor(model, texts, owner = null) {
    this.model = model;
    this.texts = texts;
    this.owner = owner;
    this.chosen = -1;
    this.rows = 0;
    for (const c of model.columns) {
      if (c.n) {
        c.values = new Float64Array(c.n.length);
        for (let r = 0; r < c.n.length; r++) c.values[r] = c.n[r] === null ? NaN : c.n[r];
      }
      c.t ||= [];
      this.rows = (c.values || c.t).length;
      c.isText = !c.values;
      if (c.isText) {
        const longest = c.t.reduce((n, id) => Math.max(n, texts[id].length), 0);
        c.short = longest <= 28 || c.t.some(id => texts[id].startsWith("  ")); // or a tree
        c.long = longest > 40 || longest > 28 && !c.t.some(id => texts[id].includes(" "));
      }
    }
    this.visible = model.columns.filter(c => !c.detail);
    this.details = model.columns.filter(c => c.detail);
    this.after = model.parted ? this.visible.find(c => !c.isText) : null; // stands behind the bars
    this.opens = this.details.length > 0 || (model.grids || []).length > 0;
    this.open = new Set();
    this.page = 0;
    this.range = null;
    this.sortBy = model.columns.find(c => c.k === model.sort) || null;
    this.descending = this.sortBy ? !this.sortBy.isText : true;
    this.onHover = null;
    this.build();
    this.select();
  }

  text(c, row) {
    if (c.id) return Number.isNaN(c.values[row]) ? "-" : String(c.values[row]);
    if (c.p) return page.precise(c.values[row]);
    return c.isText ? this.texts[c.t[row]] : page.number(c.values[row], Math.min(c.d || 0, 3));
  }

  build() {
    const h = page.h, m = this.model;
    this.input = h("input", { type: "search", placeholder: this.owner ? "Search  /" : "Filter", "aria-label": (this.owner ? "search in " : "filter ") + m.title, spellcheck: "false", autocomplete: "off", title: this.filterHelp() });
    let timer;
    this.input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.select(), 60); });
    this.chip = h("span", { class: "chip hidden" });
    this.head = h("tr");
    for (const c of this.visible) {
      if (c === this.after) this.head.append(h("th", { scope: "col", class: "parts" }, m.parted.l));
      const b = h("button", { type: "button", title: c.h, onclick: () => this.sort(c) }, c.l, c.u ? h("span", { class: "unit" }, " " + c.u) : null);
      c.th = h("th", { scope: "col", class: c.isText ? "text" : "num" }, b);
      this.head.append(c.th);
    }
    this.body = h("tbody");
    this.status = h("span", { "aria-live": "polite" });
    const step = (text, label, to) => h("button", { type: "button", "aria-label": label, onclick: () => { this.page = to(); this.draw(); } }, text);
    this.buttons = [
      step("«", "first page", () => 0), step("‹", "page before", () => this.page - 1),
      step("›", "next page", () => this.page + 1), step("»", "last page", () => this.pages() - 1),
    ];
    this.where = h("span");
    this.pager = h("span", { class: "pages" }, this.buttons[0], this.buttons[1], this.where, this.buttons[2], this.buttons[3]);
    const small = this.rows <= 8;
    const narrow = !this.owner && this.visible.length <= 5 && this.visible.every(c => !c.isText || c.short) && !this.opens;
    this.table = h("table", this.owner ? { class: "grid", role: "grid", tabindex: "0", "aria-label": m.title, "aria-rowcount": this.rows + 1 } : {},
      this.owner ? h("colgroup", {}, this.visible.map(c => h("col", c.width ? { width: c.width } : {}))) : h("caption", { class: "sr" }, m.title), h("thead", {}, this.head), this.body);
    this.scroll = h("div", { class: "scroll" }, this.table);
    this.root = h("div", { class: narrow ? "block narrow" : "block", id: "table-" + m.id },
      this.owner ? h("div", { class: "tablehead" }, this.input, this.status) : h("div", { class: "tablehead" }, h("h3", {}, m.title), this.chip, small ? null : this.input),
      m.lead ? h("p", { class: "lead" }, m.lead) : null,
      m.parted ? this.legend() : null,
      this.scroll,
      small || this.owner ? null : h("div", { class: "foot" }, this.status, this.pager));
    if (this.owner) {
      this.root.classList.add("grows");
      this.table.style.minWidth = this.visible.reduce((n, c) => n + (c.width || 240), 0) + "px";
      const follow = () => this.lacks() && this.drawSeen();
      this.scroll.addEventListener("scroll", () => requestAnimationFrame(follow));
      new ResizeObserver(follow).observe(this.scroll);
      this.table.addEventListener("keydown", e => this.keySeen(e));
      return;
    }
    this.scroll.addEventListener("scroll", () => this.mark());
    new ResizeObserver(() => this.fit()).observe(this.scroll);
    this.body.addEventListener("keydown", e => this.key(e));
  }

  // drawSeen makes the rows that are seen, and once somebody scrolls a screen above and below. Lines
  // without height stand for the others.
  drawSeen() {
    const high = DataTable.rowHeight, n = this.order.length, isShown = this.scroll.isConnected;
    const seen = DataTable.seen = isShown && Math.ceil(this.scroll.clientHeight / high) || DataTable.seen;
    const top = isShown ? Math.min(Math.floor(this.scroll.scrollTop / high), n) : 0, first = Math.max(top - seen, 0), last = Math.min(top + (isShown ? 2 * seen : seen + 4), n);
    this.drawn = [first, last];
    const space = rows => page.h("tr", { "aria-hidden": "true", class: "space" }, page.h("td", { colspan: this.width() }));
    const above = space(), below = space();
    above.firstChild.style.height = first * high + "px";
    below.firstChild.style.height = (n - last) * high + "px";
    const rows = this.order.slice(first, last).map((r, k) => {
      const tr = this.row(r), chosen = r === this.chosen;
      tr.id = "row-" + this.model.id + "-" + r;
      tr.setAttribute("aria-rowindex", first + k + 2);
      tr.setAttribute("aria-selected", String(chosen));
      tr.addEventListener("click", () => this.choose(first + k));
      tr.addEventListener("dblclick", () => this.owner.open(r));
      return tr;
    });
    this.body.replaceChildren(first ? above : "", ...rows, last < n ? below : "");
    const tr = this.body.querySelector(".chosen");
    if (tr) this.table.setAttribute("aria-activedescendant", tr.id);
    else this.table.removeAttribute("aria-activedescendant");
  }

  // lacks says whether a row that is seen is no element.
  lacks() {
    const top = this.scroll.scrollTop / DataTable.rowHeight, [first, last] = this.drawn;
    return top < first || Math.min(top + this.scroll.clientHeight / DataTable.rowHeight, this.order.length) > last;
  }

  // choose selects the row at a place, and scrolls to it.
  choose(at) {
    if (!this.order.length) return;
    at = Math.min(Math.max(at, 0), this.order.length - 1);
    this.chosen = this.order[at];
    const s = this.scroll, high = DataTable.rowHeight, top = at * high, room = s.clientHeight - this.head.offsetHeight;
    if (top < s.scrollTop) s.scrollTop = top;
    else if (top + high > s.scrollTop + room) s.scrollTop = top + high - room;
    this.drawSeen();
    this.owner.pick(this.chosen);
  }

  keySeen(e) {
    const at = this.order.indexOf(this.chosen), page = Math.max(Math.floor(this.scroll.clientHeight / DataTable.rowHeight) - 2, 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.order.length - 1 }[e.key];
    if (to !== undefined) this.choose(to);
    else if (e.key === "Enter" && at >= 0 && e.target === this.table) this.owner.open(this.chosen);
    else return;
    e.preventDefault();
  }

  // fit draws columns closer, their heads in lines, where they need more than the width.
  fit() {
    const dense = this.table.classList;
    dense.toggle("dense", this.visible.length > 11);
    if (this.scroll.scrollWidth > this.scroll.clientWidth) dense.add("dense");
    this.mark();
  }

  // mark fades the edge behind which there are more columns.
  mark() {
    const s = this.scroll;
    s.classList.toggle("cut", s.scrollLeft + s.clientWidth < s.scrollWidth - 1);
  }

  // legend names the colours of the bars.
  legend() {
    const h = page.h;
    return h("p", { class: "lead keys" }, this.parts().map(([c, color]) => {
      const i = h("i", { "aria-hidden": "true" });
      i.style.background = "var(--" + color + ")";
      return h("span", {}, i, c.l);
    }));
  }

  // parts are the columns that bars are made of, with their colours.
  parts() { return this.model.parted.of.map(x => [this.model.columns.find(c => c.k === x.k), x.c]); }

  // bar shows of what the numbers of a row are.
  bar(r) {
    const h = page.h, list = this.parts().filter(([c]) => c.values[r] > 0);
    const sum = list.reduce((n, [c]) => n + c.values[r], 0);
    const text = list.map(([c]) => c.l + " " + this.text(c, r) + " " + (c.u || "")).join(", ");
    const bar = h("span", { class: "stack", role: "img", "aria-label": text, title: text }, list.map(([c, color]) => {
      const i = h("i");
      i.style.width = 100 * c.values[r] / sum + "%";
      i.style.background = "var(--" + color + ")";
      return i;
    }));
    return h("td", { class: "parts" }, sum > 0 ? bar : null);
  }

  filterHelp() {
    const c = this.visible.find(c => !c.isText);
    return "words that a row has to have, or -words that it must not" + (c ? ", or conditions such as " + c.k + ">10" : "") + "; columns: " + this.model.columns.map(c => c.k).join(", ");
  }

  // condition turns a word of the filter into a function of a row.
  condition(word) {
    if (/^-[^\d]/.test(word)) {
      const without = this.condition(word.slice(1));
      return r => !without(r);
    }
    const m = /^([a-z]\w*)(<=|>=|!=|<|>|=)(.+)$/i.exec(word);
    const c = m && this.model.columns.find(c => c.k.toLowerCase() === m[1].toLowerCase());
    if (c && !c.isText) {
      const v = Number(m[3]);
      const values = c.values;
      switch (m[2]) {
        case "<": return r => values[r] < v;
        case ">": return r => values[r] > v;
        case "<=": return r => values[r] <= v;
        case ">=": return r => values[r] >= v;
        case "!=": return r => values[r] !== v;
        default: return r => values[r] === v;
      }
    }
    const has = (want, not) => {
      want = want.toLowerCase();
      const known = new Map();
      return id => {
        let yes = known.get(id);
        if (yes === undefined) known.set(id, yes = this.texts[id].toLowerCase().includes(want));
        return yes !== not;
      };
    };
    if (c) {
      const f = has(m[3], m[2] === "!=");
      return r => f(c.t[r]);
    }
    const f = has(word, false), columns = this.model.columns.filter(c => c.isText), numbers = this.visible.filter(c => !c.isText);
    return r => columns.some(c => f(c.t[r])) || numbers.some(c => String(c.values[r]) === word);
  }

  // select finds the rows to show, and their order.
  select() {
    const words = (this.input.value.match(/[^\s"]*"[^"]*"|\S+/g) || []).map(w => w.replaceAll('"', "")).filter(w => w);
    const conditions = words.map(w => this.condition(w));
    const t = this.range && this.model.columns.find(c => c.k === this.model.time);
    if (t) conditions.push(r => t.values[r] >= 1000 * this.range[0] && t.values[r] <= 1000 * this.range[1]);
    this.order = [];
    for (let r = 0; r < this.rows; r++) if (conditions.every(f => f(r))) this.order.push(r);
    this.arrange();
    this.page = 0;
    this.draw();
  }

  arrange() {
    const c = this.sortBy;
    if (!c) return void this.order.sort((a, b) => a - b);
    const sign = this.descending ? -1 : 1;
    if (c.isText) {
      const text = this.texts;
      this.order.sort((a, b) => sign * (text[c.t[a]] < text[c.t[b]] ? -1 : text[c.t[a]] > text[c.t[b]] ? 1 : 0) || a - b);
      return;
    }
    const v = c.values, last = this.model.last || []; // what is not known comes last, too
    this.order.sort((a, b) => {
      const x = v[a], y = v[b], order = last.includes(a) - last.includes(b);
      if (order) return order;
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
      return sign * (x - y) || a - b;
    });
  }

  sort(c) {
    if (this.sortBy !== c) { this.sortBy = c; this.descending = !c.isText; }
    else if (this.descending === !c.isText) this.descending = !this.descending;
    else this.sortBy = null;
    this.arrange();
    this.page = 0;
    this.draw();
  }

  // limit shows only the rows of a range of time, in seconds; of all if it is null.
  limit(range) {
    if (!this.model.time && !this.follows) {
      this.chip.classList.toggle("hidden", !range);
      this.chip.textContent = "of the whole time";
      return;
    }
    this.range = range;
    this.chip.classList.toggle("hidden", !range);
    if (range) this.chip.textContent = "only " + page.number(range[0], 3) + " to " + page.number(range[1], 3) + " s";
    this.select();
  }

  // replace shows other numbers in a column.
  replace(key, values) {
    const c = this.model.columns.find(c => c.k === key);
    if (!c) return;
    c.values = values;
    c.max = undefined;
  }

  width() { return this.visible.length + (this.model.parted ? 1 : 0); }

  pages() { return Math.max(1, Math.ceil(this.order.length / DataTable.pageSize)); }

  draw() {
    const h = page.h;
    for (const c of this.visible) {
      if (c === this.sortBy) c.th.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else c.th.removeAttribute("aria-sort");
      if (c.share && c.max === undefined) c.max = c.values.reduce((m, v, r) => Math.abs(v) > m && !(this.owner && this.model.last?.includes(r)) ? Math.abs(v) : m, 0);
    }
    const n = page.number(this.order.length), all = page.number(this.rows) + (this.rows === 1 ? " row" : " rows");
    this.status.textContent = this.order.length === this.rows ? all : n + " of " + all;
    if (this.owner) return this.drawSeen();
    this.page = Math.min(Math.max(this.page, 0), this.pages() - 1);
    const from = this.page * DataTable.pageSize;
    const rows = this.order.slice(from, from + DataTable.pageSize);
    const list = [];
    for (const r of rows) {
      list.push(this.row(r, list.length === 0));
      if (this.open.has(r)) list.push(this.more(r));
    }
    if (!rows.length) list.push(h("tr", {}, h("td", { colspan: this.width(), class: "empty" }, this.rows ? "No row passes the filter." : "Nothing.")));
    this.body.replaceChildren(...list);
    this.where.textContent = rows.length ? page.number(from + 1) + " to " + page.number(from + rows.length) : "";
    this.buttons[0].disabled = this.buttons[1].disabled = this.page === 0;
    this.buttons[2].disabled = this.buttons[3].disabled = this.page >= this.pages() - 1;
    this.pager.classList.toggle("hidden", this.pages() === 1);
    this.fit();
  }

  row(r, first) {
    const h = page.h;
    const tr = h("tr", { class: "data" + (this.opens ? " opens" : "") + (r === this.chosen ? " chosen" : ""), tabindex: this.owner ? null : first ? "0" : "-1", "aria-expanded": this.opens ? String(this.open.has(r)) : null });
    tr.dataset.row = r;
    for (const c of this.visible) {
      if (c === this.after) tr.append(this.bar(r));
      const text = this.text(c, r);
      const td = h("td", { class: c.isText ? "text" + (c.short ? " short" : c.long ? " long" : "") : "num" + (c.share ? " share" : "") }, c.cell ? c.cell(r) : c.isText && text.length > 40 ? breakable(text) : text);
      if (c.title) td.title = c.title(r);
      if (c.share && c.max > 0 && (c.values[r] > 0 || c.signed && c.values[r] < 0)) {
        const bar = h("i", { class: !c.signed ? null : c.values[r] > 0 ? "more" : "less" });
        bar.style.width = Math.min(Math.abs(c.values[r]) / c.max, 1) * 100 + "%";
        td.append(h("span", { class: "bar", "aria-hidden": "true" }, bar));
      }
      tr.append(td);
    }
    if (this.opens) tr.addEventListener("click", () => { if (!String(getSelection())) this.toggle(r); });
    if (this.onHover) {
      tr.addEventListener("mouseenter", () => this.onHover(r));
      tr.addEventListener("mouseleave", () => this.onHover(null));
      tr.addEventListener("focus", () => this.onHover(r));
    }
    return tr;
  }

  // more is what a row shows when it is opened.
  more(r) {
    const h = page.h, pairs = h("dl", { class: "pairs" });
    for (const c of this.details) {
      const text = this.text(c, r);
      if (text === "-" || text === "") continue;
      pairs.append(h("dt", {}, c.l), h("dd", {}, text + (c.u ? " " + c.u : "")));
    }
    const wrap = h("div", { class: "wrap" }, pairs.childElementCount ? pairs : null);
    for (const g of this.model.grids || []) {
      const n = g.rows.length, body = h("tbody");
      for (let i = 0; i < n; i++) {
        const values = g.columns.map(c => c.n[r * n + i]);
        if (values.every(v => v === null)) continue;
        body.append(h("tr", {}, h("th", { scope: "row" }, g.rows[i]), g.columns.map((c, k) => h("td", { class: "num" }, page.number(values[k], c.d)))));
      }
      if (!body.childElementCount) continue;
      wrap.append(h("table", { class: "gridtable" }, h("caption", {}, g.title),
        h("thead", {}, h("tr", {}, h("th", {}), g.columns.map(c => h("th", { scope: "col" }, c.l, h("span", { class: "unit" }, " " + c.u))))), body));
    }
    return h("tr", { class: "more" }, h("td", { colspan: this.width() }, wrap.childElementCount ? wrap : h("span", { class: "soft" }, "Nothing more is known of it.")));
  }

  toggle(r) {
    if (this.open.has(r)) this.open.delete(r);
    else this.open.add(r);
    this.draw();
    this.focus(r);
  }

  focus(r) {
    const tr = this.body.querySelector('tr[data-row="' + r + '"]');
    if (!tr) return null;
    this.body.querySelectorAll('tr[tabindex="0"]').forEach(x => x.setAttribute("tabindex", "-1"));
    tr.setAttribute("tabindex", "0");
    tr.focus({ preventScroll: true });
    return tr;
  }

  // reveal shows a row: on its page, opened, in the middle of the window.
  reveal(r) {
    let at = this.order.indexOf(r);
    if (at < 0) { // the filter hides it
      this.input.value = "";
      this.select();
      at = this.order.indexOf(r);
    }
    if (at < 0) return;
    this.chosen = r;
    this.page = Math.floor(at / DataTable.pageSize);
    if (this.opens) this.open.add(r);
    this.draw();
    const tr = this.focus(r);
    tr.scrollIntoView({ block: "center", behavior: "instant" });
  }

  key(e) {
    const tr = e.target.closest("tr.data");
    if (!tr) return;
    const r = Number(tr.dataset.row), at = this.order.indexOf(r);
    const go = to => {
      to = Math.min(Math.max(to, 0), this.order.length - 1);
      const p = Math.floor(to / DataTable.pageSize);
      if (p !== this.page) { this.page = p; this.draw(); }
      this.focus(this.order[to]).scrollIntoView({ block: "nearest", behavior: "instant" });
    };
    switch (e.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at - 1); break;
      case "PageDown": go(at + DataTable.pageSize); break;
      case "PageUp": go(at - DataTable.pageSize); break;
      case "Home": go(0); break;
      case "End": go(this.order.length - 1); break;
      case "Enter": case " ": if (this.opens) this.toggle(r); break;
      default: return;
    }
    e.preventDefault();
  }
}

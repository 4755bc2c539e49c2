"use strict";
(() => {
  const { data, h, number } = page;
  const main = document.getElementById("page");
  let view = null; // the one that is shown: {range, full, charts, tables}

  const pairs = list => h("dl", { class: "pairs" }, list.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

  // spanOf returns the range of time of all charts of a view.
  function spanOf(sections) {
    let min = Infinity, max = -Infinity;
    for (const s of sections) {
      if (s.tracks && s.tracks.lanes.length) {
        min = Math.min(min, s.tracks.from);
        max = Math.max(max, s.tracks.from + s.tracks.width * s.tracks.lanes[0].y.length);
      }
      for (const c of s.charts || []) {
        if (c.kind === "histogram" || !c.x.length) continue;
        min = Math.min(min, c.x[0]);
        max = Math.max(max, c.x[c.x.length - 1] + (c.width || 0));
      }
    }
    if (!(max > min)) return [min === Infinity ? 0 : min - 0.5, min === Infinity ? 1 : min + 0.5];
    const room = (max - min) * 0.01;
    return [Math.max(min - room, Math.min(min, 0)), max + room];
  }

  const zoomText = h("span"), zoomBar = h("div", { class: "zoom hidden", role: "status" }, zoomText, h("button", { type: "button", onclick: () => zoom(null) }, "Show all"));

  // zoom shows a range of time in all charts, and in tables with times.
  function zoom(range) {
    view.range = range;
    view.charts.forEach(c => c.setRange());
    view.tables.forEach(t => t.limit(range));
    view.flames.forEach(f => f.limit(range));
    zoomBar.classList.toggle("hidden", !range);
    if (range) zoomText.textContent = number(range[0], 3) + " s to " + number(range[1], 3) + " s";
  }

  function choose(id, row) {
    const t = view.tables.get(id);
    if (t) t.reveal(row);
  }

  // describe describes a row in a line, for a chart.
  function describe(id, row) {
    const t = view.tables.get(id);
    if (!t) return "";
    const text = key => { const c = t.model.columns.find(c => c.k === key); return c ? t.text(c, row) : ""; };
    return [text("number") && "No. " + text("number"), text("kind"), text("reason")].filter(Boolean).join(", ");
  }

  function section(s) {
    const area = h("section", { class: "area", id: s.id, "aria-labelledby": "h-" + s.id }, h("h2", { id: "h-" + s.id }, s.title), (s.lead || []).map(t => h("p", {}, t)));
    if (s.tracks) {
      const made = makeTracks(s.tracks, view);
      view.charts.push(made);
      area.append(made.root);
    }
    if (s.charts && s.charts.length) {
      const grid = h("div", { class: s.charts.some(c => c.small) ? "charts small" : "charts" });
      for (const c of s.charts) {
        const made = makeChart(c, view);
        if (c.kind === "scatter") made.root.classList.add("wide");
        view.charts.push(made);
        grid.append(made.root);
      }
      // One that would stand alone in its row takes all of it.
      const narrow = grid.querySelectorAll(".chart:not(.wide)");
      if (narrow.length % 2 === 1 && !s.charts.some(c => c.small)) narrow[narrow.length - 1].classList.add("wide");
      area.append(grid);
    }
    const flame = s.flame && makeFlame(s.flame, data.texts);
    if (flame) {
      area.append(flame.root);
      view.flames.push(flame);
    }
    const tables = h("div", { class: "tables" });
    area.append(tables);
    for (const m of s.tables || []) {
      const t = new DataTable(m, data.texts);
      if (flame) t.body.addEventListener("click", e => {
        const tr = e.target.closest("tr.data");
        if (tr) flame.search(data.texts[m.columns[0].t[tr.dataset.row]]);
      });
      if (flame) flame.follow(t);
      view.tables.set(m.id, t);
      tables.append(t.root);
    }
    for (const c of view.charts) {
      const t = c.model.kind === "scatter" && view.tables.get(c.model.table);
      if (t) t.onHover = row => c.mark(row);
    }
    return area;
  }

  function summary(v) {
    const tiles = h("div", { class: "tiles" }, v.tiles.map(t => h("a", { class: "tile", href: "#" + t.section },
      h("div", { class: "label" }, t.label), h("div", { class: "value" }, t.value), t.note ? h("div", { class: "note" }, breakable(t.note)) : null)));
    tiles.style.setProperty("--columns", v.tiles.length <= 6 ? Math.max(v.tiles.length, 4) : Math.ceil(v.tiles.length / 2));
    return h("section", { class: "summary", id: "summary" },
      h("div", { class: "who" }, h("h2", {}, v.label)),
      v.tiles.length ? tiles : null,
      v.findings.length ? h("ul", { class: "findings" }, v.findings.map(f => h("li", {}, h("span", { class: "tag " + f.level }, f.level),
        h("span", {}, f.text + " ", f.section ? h("a", { href: "#" + f.section, "aria-label": "more on this" }, "More") : null)))) : null,
      v.sections.length ? null : h("p", { class: "soft" }, "The trace has nothing else of this process than that it is there."),
      h("details", { class: "facts" }, h("summary", {}, v.machine ? "About this machine" : "About this process"), pairs(v.facts)));
  }

  const body = h("div"), nav = h("nav", { "aria-label": "areas" });

  function show(v) {
    if (view) view.charts.forEach(c => c.destroy());
    view = { range: null, full: spanOf(v.sections), charts: [], flames: [], tables: new Map(), zoom, choose, describe };
    zoomBar.classList.add("hidden");
    const areas = v.sections.map(section);
    body.replaceChildren(summary(v), ...areas);
    nav.replaceChildren(...[["summary", "Summary"], ...v.sections.map(s => [s.id, s.title]), ...(data.missing.length ? [["missing", "Not in the trace"]] : [])].map(([id, title]) => h("a", { href: "#" + id }, title)));
    spy();
  }

  // spy marks the area that is being read.
  function spy() {
    const links = [...nav.children];
    let current = links[0];
    for (const a of links) {
      const e = document.getElementById(a.getAttribute("href").slice(1));
      if (e && e.getBoundingClientRect().top < 140) current = a;
    }
    for (const a of links) {
      if (a === current) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
    if (current && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = current.offsetLeft - nav.clientWidth / 2;
  }

  function missing() {
    if (!data.missing.length) return null;
    return h("section", { class: "area advice", id: "missing" }, h("h2", {}, "Not in the trace"),
      h("p", {}, "The trace has no events of these areas. If that is not because nothing happened, record what is named here, and look again."),
      h("div", { class: "scroll block" }, h("table", {}, h("thead", {}, h("tr", {}, ["Area", "What to record", "How"].map(t => h("th", { scope: "col", class: "text" }, h("span", { class: "plain" }, t))))),
        h("tbody", {}, data.missing.map(m => h("tr", {}, h("td", {}, m.title), h("td", {}, m.keywords), h("td", {}, h("code", {}, m.command))))))));
  }

  let overviewTable = null;
  function overview() {
    if (!data.overview) return null;
    const t = new DataTable(data.overview, data.texts);
    t.body.addEventListener("click", e => {
      const tr = e.target.closest("tr.data");
      if (tr) pick(Number(tr.dataset.row));
    });
    t.body.addEventListener("keydown", e => {
      const tr = e.target.closest("tr.data");
      if (tr && (e.key === "Enter" || e.key === " ")) pick(Number(tr.dataset.row));
    });
    overviewTable = t;
    return h("section", { class: "overview" }, t.root);
  }

  const select = h("select", { "aria-label": "process", onchange: () => pick(Number(select.value)) }, data.views.map((v, i) => h("option", { value: i }, v.label)));
  function pick(i) {
    select.value = i;
    show(data.views[i]);
    if (overviewTable) {
      overviewTable.chosen = i;
      overviewTable.draw();
    }
    document.getElementById("summary").scrollIntoView({ behavior: "instant" });
  }

  main.append(
    h("div", { class: "top" }, h("div", { class: "row" }, h("h1", { title: data.title }, data.title), data.views.length > 1 ? select : null,
      h("button", { class: "quiet", type: "button", onclick: () => print() }, "Print"), page.themeButton()), nav),
    ...[
      data.head ? h("p", { class: "head soft" }, data.head) : null,
      page.warnings(data.warnings),
      overview(), body, missing(),
      h("footer", { class: "end" },
        data.facts.length ? h("details", { class: "facts" }, h("summary", {}, "About the trace"), pairs(data.facts)) : null,
        h("p", {}, "Times are counted from the begin of the trace. MB are 1,000,000 bytes. A dash stands for what the trace does not tell. Drag over a chart to see a part of the time, here and in all other charts, call trees and tables; a double click shows all again.")),
      zoomBar,
    ].filter(Boolean));
  if (overviewTable) {
    overviewTable.chosen = 0;
    overviewTable.draw();
  }
  if (data.views.length) show(data.views[0]);
  else body.append(h("p", { class: "summary" }, "The trace has neither events of a .NET runtime nor of a machine."));

  addEventListener("scroll", spy, { passive: true });
  addEventListener("keydown", e => { if (e.key === "Escape" && view && view.range) zoom(null); });
  page.onTheme.add(() => { if (view) view.charts.forEach(c => c.draw()); });
  page.onPrint.add(printing => {
    document.body.classList.toggle("printing", printing);
    if (!view) return;
    view.charts.forEach(c => c.print());
    view.flames.forEach(f => f.print());
  });
})();

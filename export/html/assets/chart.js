"use strict";
// makeChart draws a chart. Its owner is told of zooms and of rows that were chosen:
// {full, zoom(range), choose(table, row)}.
const makeChart = (() => {
  const h = page.h;
  const shapes = ["circle", "diamond", "square", "triangle"];
  const lowPoints = 3000; // up to here, levels are drawn as steps
  const markRoom = 40; // for three lines of labels above a chart

  // symbol draws the sign of a category around a point.
  function symbol(ctx, shape, x, y, r) {
    switch (shape) {
      case "diamond": ctx.moveTo(x, y - r * 1.25); ctx.lineTo(x + r * 1.25, y); ctx.lineTo(x, y + r * 1.25); ctx.lineTo(x - r * 1.25, y); ctx.closePath(); break;
      case "square": ctx.rect(x - r, y - r, 2 * r, 2 * r); break;
      case "triangle": ctx.moveTo(x, y - r * 1.3); ctx.lineTo(x + r * 1.25, y + r); ctx.lineTo(x - r * 1.25, y + r); ctx.closePath(); break;
      default: ctx.moveTo(x + r, y); ctx.arc(x, y, r, 0, 2 * Math.PI);
    }
  }

  function sign(shape, color) {
    const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path");
    svg.setAttribute("viewBox", "0 0 12 12");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", { circle: "M6 1.5a4.5 4.5 0 1 0 .01 0z", diamond: "M6 .5 11.5 6 6 11.5.5 6z", square: "M1.5 1.5h9v9h-9z", triangle: "M6 1 11.5 11H.5z" }[shape]);
    path.setAttribute("fill", "var(--" + color + ")");
    svg.append(path);
    return svg;
  }

  function faded(color, alpha) { return color.replace(/^rgb\(/, "rgba(").replace(/\)$/, ", " + alpha + ")"); }

  function isPower(v) { const l = Math.log10(v); return Math.abs(l - Math.round(l)) < 1e-6; }

  return function (model, owner) {
    const kind = model.kind, onTime = kind !== "histogram";
    const shown = model.series.map(() => true);
    const present = model.series.map((s, i) => model.category ? model.category.includes(i) : !s.y || s.y.some(v => v));
    let log = false, u = null, plotted = null, at = null;

    const plot = h("div", { class: "plot" + (model.table ? " linked" : "") });
    const tip = h("div", { class: "tip hidden", role: "status" });
    const ring = h("div", { class: "ring hidden" });
    const legend = h("div", { class: "legend" });
    if (model.series.length > 1) {
      model.series.forEach((s, i) => {
        if (!present[i]) return;
        const b = h("button", { type: "button", "aria-pressed": "true", title: "show or hide", onclick: () => {
          shown[i] = !shown[i];
          b.setAttribute("aria-pressed", String(shown[i]));
          draw();
        } }, sign(kind === "scatter" ? shapes[i] : "square", s.color), s.label);
        legend.append(b);
      });
    }
    const option = kind !== "scatter" ? null : h("button", { type: "button", class: "option", "aria-pressed": "false", title: "a scale of powers of ten", onclick: () => {
      log = !log;
      option.setAttribute("aria-pressed", String(log));
      draw();
    } }, "log");
    const root = h("figure", { class: "chart", id: "chart-" + model.id },
      h("header", {}, h("h3", {}, model.title, model.unit ? h("span", { class: "unit" }, " " + model.unit) : null), legend, option),
      model.note ? h("p", { class: "under" }, model.note) : null, plot);
    root.style.margin = "0";

    const points = model.x.length - (kind === "histogram" ? 1 : 0);
    const drawable = points > 0 && model.series.some((s, i) => present[i] || s.y && s.y.some(v => v !== null));

    // prepare returns the data of uPlot and the series that it draws.
    function prepare() {
      const x = model.x;
      if (kind === "scatter") {
        const y = model.series[0].y;
        plotted = y.map((v, i) => v !== null && shown[model.category[i]] && (!log || v > 0) ? v : null);
        return { data: [x, plotted], series: [{}, { paths: drawPoints, points: { show: false } }] };
      }
      if (kind === "histogram") {
        const total = new Array(points).fill(0);
        model.series.forEach((s, i) => { if (shown[i]) s.y.forEach((v, k) => { total[k] += v; }); });
        return { data: [total.map((_, i) => i + 0.5), total], series: [{}, { paths: drawHistogram, points: { show: false } }] };
      }
      if (kind === "stacked") {
        const sums = new Array(x.length).fill(0), list = [];
        for (let i = model.series.length - 1; i >= 0; i--) {
          if (!shown[i]) continue;
          model.series[i].y.forEach((v, k) => { sums[k] += v || 0; });
          list.unshift([sums.slice(), i]);
        }
        return { data: [x, ...list.map(l => l[0])], series: [{}, ...list.map(([, i]) => area(model.series[i], 0.8))] };
      }
      const y = model.series[0].y;
      if (kind === "bars") {
        const n = x.length;
        return { data: [[...x, x[n - 1] + model.width], [...y, y[n - 1]]], series: [{}, { ...area(model.series[0], 0.55), paths: uPlot.paths.stepped({ align: 1 }) }] };
      }
      return { data: [x, y], series: [{}, kind === "lines" ? area(model.series[0], 0.12) : { ...area(model.series[0], 0.25), paths: kind === "before" ? drawBand : uPlot.paths.stepped({ align: 1 }) }] };
    }

    // drawBand draws what holds up to each point; where points are dense, their mean and
    // how far they lie apart.
    function drawBand(u, series, i0, i1) {
      const y = u.data[series];
      if (i1 - i0 < 1.5 * u.over.clientWidth) return uPlot.paths.stepped({ align: -1 })(u, series, i0, i1);
      const ctx = u.ctx, dpr = devicePixelRatio || 1, { left, top, width, height } = u.bbox, step = 3 * dpr, color = page.color(model.series[0].color);
      const columns = [];
      for (let i = i0; i <= i1; i++) {
        if (y[i] === null) continue;
        const k = Math.floor((u.valToPos(model.x[i], "x", true) - left) / step), c = columns[k] ||= [Infinity, -Infinity, 0, 0];
        c[0] = Math.min(c[0], y[i]);
        c[1] = Math.max(c[1], y[i]);
        c[2] += y[i];
        c[3]++;
      }
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.fillStyle = faded(color, 0.22);
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * dpr;
      ctx.beginPath();
      columns.forEach((c, k) => {
        const high = u.valToPos(c[1], "y", true);
        ctx.fillRect(left + k * step, high, step, Math.max(1, u.valToPos(c[0], "y", true) - high));
        ctx.lineTo(left + (k + 0.5) * step, u.valToPos(c[2] / c[3], "y", true));
      });
      ctx.stroke();
      ctx.restore();
      return null;
    }

    function area(s, alpha) {
      const color = page.color(s.color);
      return { label: s.label, stroke: color, width: 1.25, fill: faded(color, alpha), points: { show: model.x.length < 2, size: 6, fill: color },
        paths: kind === "stacked" && model.x.length <= lowPoints ? uPlot.paths.stepped({ align: 1 }) : undefined, spanGaps: true };
    }

    // drawPoints draws each point, but of those at one place only the first: with ten
    // thousands of points, most are.
    function drawPoints(u, _, i0, i1) {
      const ctx = u.ctx, dpr = devicePixelRatio || 1, { left, top, width, height } = u.bbox;
      const many = i1 - i0 > 4000, r = (many ? 1.5 : 3.2) * dpr, cell = many ? Math.max(1, Math.round(dpr)) : 1;
      const columns = Math.ceil(width / cell) + 1, taken = new Uint8Array(columns * (Math.ceil(height / cell) + 1));
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height + r);
      ctx.clip();
      for (let c = 0; c < model.series.length; c++) {
        if (!shown[c] || !present[c]) continue;
        if (many) taken.fill(0);
        ctx.beginPath();
        for (let i = i0; i <= i1; i++) {
          if (model.category[i] !== c || plotted[i] === null) continue;
          const px = u.valToPos(model.x[i], "x", true), py = u.valToPos(plotted[i], "y", true);
          if (many) {
            const k = Math.floor((py - top) / cell) * columns + Math.floor((px - left) / cell);
            if (taken[k]) continue;
            taken[k] = 1;
          }
          symbol(ctx, many ? "square" : shapes[c], px, py, r);
        }
        const color = page.color(model.series[c].color);
        ctx.fillStyle = faded(color, 0.75);
        ctx.fill();
      }
      ctx.restore();
      return null;
    }

    function drawHistogram(u) {
      const ctx = u.ctx;
      ctx.save();
      for (let k = 0; k < points; k++) {
        let sum = 0;
        const x0 = u.valToPos(k + 0.06, "x", true), x1 = u.valToPos(k + 0.94, "x", true);
        model.series.forEach((s, i) => {
          if (!shown[i] || !s.y[k]) return;
          const y0 = u.valToPos(sum, "y", true), y1 = u.valToPos(sum += s.y[k], "y", true);
          ctx.fillStyle = faded(page.color(s.color), 0.85);
          ctx.fillRect(x0, y1, x1 - x0, y0 - y1);
        });
      }
      ctx.restore();
      return null;
    }

    // drawMarks draws lines at values of a histogram, with labels that do not overlap.
    function drawMarks(u) {
      const ctx = u.ctx, dpr = devicePixelRatio || 1;
      const lx = model.x.map(Math.log);
      ctx.save();
      ctx.font = 11 * dpr + "px system-ui, sans-serif";
      ctx.strokeStyle = ctx.fillStyle = page.color("soft");
      ctx.setLineDash([3 * dpr, 3 * dpr]);
      ctx.textBaseline = "top";
      ctx.textAlign = "left";
      const ends = [];
      for (const m of model.marks || []) {
        let k = 0;
        while (k < points - 1 && model.x[k + 1] <= m.at) k++;
        const pos = k + (Math.log(m.at) - lx[k]) / (lx[k + 1] - lx[k]);
        const x = Math.round(u.valToPos(Math.max(pos, 0), "x", true)) + 0.5;
        const text = m.label + " " + page.precise(m.at), width = ctx.measureText(text).width;
        const left = x + width + 6 * dpr > u.bbox.left + u.bbox.width + 20 * dpr ? x - width - 4 * dpr : x + 4 * dpr;
        let line = 0;
        while (ends[line] > left - 4 * dpr) line++;
        ends[line] = left + width;
        const y = u.bbox.top - markRoom * dpr + line * 13 * dpr;
        ctx.beginPath();
        ctx.moveTo(x, y + 2 * dpr);
        ctx.lineTo(x, u.bbox.top + u.bbox.height);
        ctx.stroke();
        ctx.fillText(text, left, y);
      }
      ctx.restore();
    }

    function axes() {
      const muted = page.color("soft"), grid = { stroke: page.color("line"), width: 1 }, ticks = { stroke: page.color("line"), width: 1, size: 5 };
      const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
      const x = { stroke: muted, grid, ticks, font, space: 70, size: 30, values: (u, splits, _a, _s, step) => splits.map(v => page.time(v, step)) };
      if (kind === "histogram") {
        x.grid = { show: false };
        x.splits = () => {
          const step = Math.max(1, Math.ceil(points / Math.max(1, plot.clientWidth / 60))), list = [];
          for (let i = 0; i <= points; i += step) list.push(i);
          return list;
        };
        x.values = (u, splits) => splits.map(i => page.precise(model.x[i]));
      }
      const y = { stroke: muted, grid, ticks, font, space: 34, gap: 6,
        size: (u, values) => values ? Math.max(36, Math.max(...values.map(v => (v || "").length)) * 7 + 16) : 44,
        values: (u, splits, _a, _s, step) => splits.map(v => v === null ? "" : !log ? page.number(v, page.digitsOf(step)) : isPower(v) ? page.precise(v) : "") };
      return [x, y];
    }

    function build() {
      const { data, series } = prepare();
      const top = (u, min, max) => [0, max > 0 ? max * 1.06 : 1];
      const logRange = (u, min, max) => min > 0 ? [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(max) + 1e-9)] : [0.1, 10];
      const bottom = kind === "lines" && model.series[0].y.some(v => v < 0);
      const full = onTime ? owner.full : [0, points];
      const opts = {
        width: Math.max(200, plot.clientWidth), height: model.small ? 130 : model.marks ? 210 + markRoom : 210, legend: { show: false }, padding: [model.marks ? markRoom + 4 : 8, kind === "histogram" ? 28 : 22, 0, 0],
        cursor: { y: false, points: { show: kind !== "scatter" && kind !== "histogram", size: 7 }, drag: { x: onTime, y: false, setScale: false, dist: 4 }, bind: { dblclick: () => () => { if (onTime) owner.zoom(null); return null; } } },
        select: { show: onTime },
        scales: {
          x: { time: false, range: (u, min, max) => min === null ? full : [min, max] },
          y: log ? { distr: 3, range: logRange } : bottom ? {} : { range: top },
        },
        axes: axes(), series,
        hooks: {
          setCursor: [hover],
          setSelect: [u => {
            if (u.select.width < 4) return;
            owner.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }],
          draw: kind === "histogram" ? [drawMarks] : [],
        },
      };
      u = new uPlot(opts, data, plot);
      u.setScale("x", { min: (range() || full)[0], max: (range() || full)[1] });
      u.over.append(ring);
      // A press that hardly moves is a click; what moves further selects a time.
      let down = null;
      u.over.addEventListener("mousedown", e => { down = e; });
      u.over.addEventListener("mouseup", e => {
        if (down && Math.hypot(e.clientX - down.clientX, e.clientY - down.clientY) < 4) click(e);
        down = null;
      });
      u.over.addEventListener("mouseleave", () => { hide(); });
      plot.append(tip);
    }
    const range = () => onTime ? owner.range : null;

    function draw() {
      if (!drawable) return;
      if (u) u.destroy();
      build();
      if (at !== null) place(at);
    }

    // nearest returns the point that is drawn nearest to a place, or null.
    function nearest(left, top) {
      if (kind !== "scatter") return u.cursor.idx;
      const x = model.x, reach = 24;
      const lo = u.valToIdx(u.posToVal(left - reach, "x")), hi = u.valToIdx(u.posToVal(left + reach, "x"));
      let best = null, least = reach * reach;
      for (let i = Math.max(lo - 1, 0); i <= Math.min(hi + 1, x.length - 1); i++) {
        if (plotted[i] === null) continue;
        const dx = u.valToPos(x[i], "x") - left, dy = u.valToPos(plotted[i], "y") - top, d = dx * dx + dy * dy;
        if (d < least) { least = d; best = i; }
      }
      return best;
    }

    function lines(i) {
      const unit = model.unit ? " " + model.unit : "";
      if (kind === "histogram") {
        const list = [h("div", {}, h("b", {}, page.precise(model.x[i]) + " to " + page.precise(model.x[i + 1]) + unit))];
        model.series.forEach((s, k) => { if (s.y[i]) list.push(h("div", {}, s.label + ": " + page.number(s.y[i]))); });
        return list;
      }
      const when = h("div", { class: "soft" }, "at " + page.number(model.x[i], 3) + " s");
      if (kind === "scatter") {
        const more = owner.describe && owner.describe(model.table, row(i));
        return [h("div", {}, h("b", {}, page.precise(plotted[i]) + unit), " " + model.series[model.category[i]].label), more ? h("div", {}, more) : null, when];
      }
      return [...model.series.map((s, k) => shown[k] && s.y[i] !== undefined && s.y[i] !== null && (present[k] || model.series.length === 1) ? h("div", {}, h("b", {}, page.precise(s.y[i]) + unit), " " + s.label) : null), when];
    }

    const row = i => model.rows ? model.rows[i] : i;

    function hover(u) {
      const { left, top, idx } = u.cursor;
      if (left < 0 || idx === null || idx === undefined) return hide();
      const i = nearest(left, top);
      if (i === null || i >= points) return hide();
      show(i, kind === "scatter" ? u.valToPos(model.x[i], "x") : left, kind === "scatter" ? u.valToPos(plotted[i], "y") : top);
      if (kind === "scatter") place(i);
    }

    function show(i, left, top) {
      tip.replaceChildren(...lines(i).filter(Boolean));
      tip.classList.remove("hidden");
      const dx = u.over.offsetLeft, dy = u.over.offsetTop, w = tip.offsetWidth, hgt = tip.offsetHeight;
      tip.style.left = Math.max(0, left + dx + 14 + w > plot.clientWidth ? left + dx - w - 14 : left + dx + 14) + "px";
      tip.style.top = Math.max(-30, top + dy - hgt - 10) + "px";
    }

    function place(i) {
      at = i;
      if (i === null || plotted === null || plotted[i] === null || plotted[i] === undefined) return ring.classList.add("hidden");
      const x = u.valToPos(model.x[i], "x"), y = u.valToPos(plotted[i], "y");
      const inside = x >= -2 && x <= u.over.clientWidth + 2;
      ring.classList.toggle("hidden", !inside);
      ring.style.left = x + "px";
      ring.style.top = y + "px";
    }

    function hide() {
      tip.classList.add("hidden");
      if (kind === "scatter") place(null);
    }

    function click(e) {
      if (!model.table) return;
      const box = u.over.getBoundingClientRect();
      const i = nearest(e.clientX - box.left, e.clientY - box.top);
      if (i !== null && i !== undefined && i < points) owner.choose(model.table, row(i));
    }

    function key(e) {
      if (kind !== "scatter" || e.target !== plot) return;
      const visible = i => plotted[i] !== null && model.x[i] >= u.scales.x.min && model.x[i] <= u.scales.x.max;
      const seek = (i, step) => { while (i >= 0 && i < points && !visible(i)) i += step; return i >= 0 && i < points ? i : at; };
      let to = at;
      switch (e.key) {
        case "ArrowRight": to = seek(at === null ? 0 : at + 1, 1); break;
        case "ArrowLeft": to = seek(at === null ? points - 1 : at - 1, -1); break;
        case "Home": to = seek(0, 1); break;
        case "End": to = seek(points - 1, -1); break;
        case "Enter": if (at !== null) owner.choose(model.table, row(at)); e.preventDefault(); return;
        case "Escape": hide(); return;
        default: return;
      }
      e.preventDefault();
      if (to === null) return;
      place(to);
      show(to, u.valToPos(model.x[to], "x"), u.valToPos(plotted[to], "y"));
    }

    if (!drawable) plot.append(h("p", { class: "empty" }, "Nothing to draw."));
    if (kind === "scatter" && drawable) {
      plot.tabIndex = 0;
      plot.setAttribute("role", "application");
      plot.setAttribute("aria-label", model.title + ": " + points + " points. Arrow keys go from one to the next, Enter shows its row.");
      plot.addEventListener("keydown", key);
      plot.addEventListener("blur", hide);
    } else {
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", model.title);
    }
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (!drawable || plot.clientWidth === 0 || plot.clientWidth === width) return;
      width = plot.clientWidth;
      if (!u) build();
      else u.setSize({ width, height: u.height });
    });
    observer.observe(plot);

    return {
      model, root, draw,
      // setRange shows a range of time.
      setRange() { if (u && onTime) u.setScale("x", { min: (range() || owner.full)[0], max: (range() || owner.full)[1] }); },
      // mark shows which point a row is.
      mark(r) { if (u && kind === "scatter") place(r); },
      print() { if (drawable && u) { width = plot.clientWidth; u.setSize({ width, height: u.height }); } },
      destroy() { observer.disconnect(); if (u) u.destroy(); },
    };
  };
})();

"use strict";
// makeTracks shows lanes of what happened when, one below the other. Its owner is told of
// zooms: {full, range, zoom(range)}. For one that dims, a range is not zoomed to: all of the time
// stays, and that outside is dimmed.
const makeTracks = (() => {
  const h = page.h;
  const axisHeight = 22, labelWidth = 176;

  return function (model, owner) {
    const n = model.lanes.length ? model.lanes[0].y.length : 0;
    const begin = model.from, end = model.from + n * model.width, least = 4 * model.width;
    const dims = owner.dims, laneHeight = model.laneHeight || 34, stripHeight = dims ? 0 : 26, head = dims ? axisHeight : 0; // the axis, for one whose lanes may not be seen all
    let cursor = null, drag = null, width = 0;

    const strip = h("canvas", { class: "strip", "aria-hidden": "true" });
    const canvas = h("canvas", { class: "lanes", "aria-hidden": "true" });
    const tip = h("div", { class: "tip hidden", role: "status" });
    const labels = h("div", { class: "lanelabels" }, model.lanes.map(l => h("div", { class: "lanelabel", title: (l.title || l.label) + (l.total ? ": " + l.total : "") },
      h("span", { class: "name" }, l.label), h("span", { class: "soft" }, l.total || ""))));
    const box = h("div", { class: "lanebox", tabindex: "0", ...dims ? { role: "slider", "aria-label": "window of time", "aria-valuemin": begin, "aria-valuemax": end } : { role: "application",
      "aria-label": "what happened when, in " + model.lanes.length + " lanes: plus and minus zoom, the arrow keys move, Escape shows all" } }, dims ? null : strip, canvas, tip);
    const button = (text, label, act) => h("button", { type: "button", title: label, "aria-label": label, onclick: act }, text);
    const root = h("figure", { class: "tracks", id: "tracks" },
      dims ? null : h("header", {}, h("p", { class: "under" }, model.note),
        h("span", { class: "modes" }, button("+", "zoom in", () => scale(0.5)), button("−", "zoom out", () => scale(2)),
          button("‹", "earlier", () => move(-0.5)), button("›", "later", () => move(0.5)), button("All", "show all", () => owner.zoom(null)))),
      h("div", { class: "lanegrid" }, labels, box));
    root.style.setProperty("--lane", laneHeight + "px");
    root.style.setProperty("--labels", labelWidth + "px");
    root.style.setProperty("--strip", (dims ? axisHeight - 4 : stripHeight) + "px");

    const range = () => owner.range || [begin, end], seen = () => dims ? [begin, end] : range();

    // set shows a range of time, not outside of the trace and not less than can be seen.
    function set(from, to) {
      const length = Math.max(to - from, least);
      if (length >= end - begin) return owner.zoom(null);
      const start = Math.min(Math.max(from, begin), end - length);
      owner.zoom([start, start + length]);
    }
    function scale(by, at) {
      const [from, to] = range(), middle = at === undefined ? (from + to) / 2 : at;
      set(middle - (middle - from) * by, middle + (to - middle) * by);
    }
    function move(by) {
      const [from, to] = range();
      set(from + (to - from) * by, to + (to - from) * by);
    }

    // columns adds up a lane for drawing: at least two pixels for each.
    function columns(l, from, to) {
      const first = Math.max(0, Math.floor((from - begin) / model.width)), last = Math.min(n, Math.ceil((to - begin) / model.width));
      const each = Math.max(1, Math.ceil((last - first) / Math.max(1, width / 2))), list = [];
      for (let i = first; i < last; i += each) {
        let value = null, known = 0;
        for (let k = i; k < Math.min(i + each, last); k++) {
          const v = l.y[k];
          if (v === null) continue;
          value = l.how === "highest" ? Math.max(value === null ? v : value, v) : (value || 0) + v;
          known++;
        }
        if (l.how === "mean" && known) value /= known;
        list.push(value);
      }
      return { list, first, each };
    }

    function prepare(c, height) {
      const dpr = devicePixelRatio || 1, ctx = c.getContext("2d"), wide = Math.round(width * dpr), tall = Math.round(height * dpr);
      c.style.width = width + "px";
      c.style.height = height + "px";
      if (c.width !== wide || c.height !== tall) { c.width = wide; c.height = tall; } // which makes it anew
      ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
      ctx.clearRect(0, 0, width, height);
      return ctx;
    }

    // drawLane draws a lane within a range, from top on.
    function drawLane(ctx, l, from, to, top, height) {
      const { list, first, each } = columns(l, from, to), px = t => (t - from) / (to - from) * width;
      const most = list.reduce((m, v) => v > m ? v : m, 0);
      ctx.fillStyle = page.color(l.color);
      list.forEach((v, i) => {
        if (!(v > 0)) return;
        const t = begin + (first + i * each) * model.width, x = px(t), w = px(t + each * model.width) - x, tall = Math.max(1, v / most * height);
        ctx.fillRect(x, top + height - tall, Math.max(w - (w > 4 ? 1 : 0), 1), tall);
      });
      return most;
    }

    function draw() {
      if (!width || !n) return;
      const height = model.lanes.length * laneHeight + axisHeight;
      paint(prepare(canvas, height), height);
      if (!dims) return drawStrip();
      const [from, to] = range(), said = s => page.amount(s * 1000, "ms");
      box.setAttribute("aria-valuetext", said(from) + " to " + said(to));
      box.setAttribute("aria-valuenow", String(from));
    }

    // paint paints the lanes and their axis.
    function paint(ctx, height) {
      const [from, to] = seen();
      const px = t => (t - from) / (to - from) * width, muted = page.color("soft"), grid = page.color("line");
      ctx.font = "11px system-ui, sans-serif";
      const step = stepOf((to - from) / Math.max(2, width / 110));
      ctx.textBaseline = "top";
      ctx.textAlign = "center";
      for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        const x = Math.round(px(t)) + 0.5;
        ctx.fillStyle = grid;
        ctx.fillRect(x, head, 1, height - axisHeight);
        ctx.fillStyle = muted;
        const text = page.time(Math.abs(t) < step / 1e6 ? 0 : t, step), half = ctx.measureText(text).width / 2;
        ctx.fillText(text, Math.min(Math.max(x, half + 1), width - half - 1), dims ? 5 : height - axisHeight + 5);
      }
      model.lanes.forEach((l, i) => {
        const top = head + i * laneHeight, most = drawLane(ctx, l, from, to, top + 5, laneHeight - 8);
        ctx.fillStyle = page.color("line");
        ctx.fillRect(0, top + laneHeight - 1, width, 1);
        const text = page.amount(most, l.unit), room = ctx.measureText(text).width;
        ctx.fillStyle = page.color("panel");
        ctx.globalAlpha = 0.75;
        ctx.fillRect(width - room - 6, top + 1, room + 6, 13);
        ctx.globalAlpha = 1;
        ctx.fillStyle = muted;
        ctx.textAlign = "right";
        ctx.fillText(text, width - 3, top + 2);
      });
      if (cursor !== null && cursor >= from && cursor <= to) {
        ctx.fillStyle = page.color("line-strong");
        ctx.fillRect(Math.round(px(cursor)), 0, 1, height - axisHeight);
      }
      const [first, last] = dims && !(drag && drag.select) ? range() : [from, to];
      if (first > from || last < to) {
        ctx.fillStyle = page.color("veil");
        ctx.fillRect(0, 0, px(first), height);
        ctx.fillRect(px(last), 0, width - px(last), height);
        ctx.fillStyle = page.color("accent");
        ctx.fillRect(px(first) - 1, 0, 2, height);
        ctx.fillRect(px(last) - 1, 0, 2, height);
      }
      if (drag && drag.select) {
        const a = px(Math.min(drag.from, drag.to)), b = px(Math.max(drag.from, drag.to));
        ctx.globalAlpha = 0.18;
        ctx.fillStyle = page.color("accent");
        ctx.fillRect(a, 0, b - a, height - axisHeight);
        ctx.globalAlpha = 1;
      }
    }

    // drawStrip draws all of the time, and the window that is shown.
    function drawStrip() {
      const ctx = prepare(strip, stripHeight), [from, to] = range(), px = t => (t - begin) / (end - begin) * width;
      ctx.fillStyle = page.color("panel");
      ctx.fillRect(0, 0, width, stripHeight);
      ctx.fillStyle = page.color("line");
      ctx.fillRect(0, stripHeight - 3, width, 1);
      ctx.globalAlpha = 0.55;
      drawLane(ctx, model.lanes[0], begin, end, 2, stripHeight - 4);
      ctx.globalAlpha = 0.7;
      ctx.fillStyle = page.color("sunk");
      ctx.fillRect(0, 0, px(from), stripHeight);
      ctx.fillRect(px(to), 0, width - px(to), stripHeight);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = page.color(owner.range ? "accent" : "line-strong");
      ctx.strokeRect(Math.max(0.5, px(from)), 0.5, Math.max(3, px(to) - px(from) - 1), stripHeight - 1);
    }

    // stepOf returns a round number that is at least so much.
    function stepOf(v) {
      const p = 10 ** Math.floor(Math.log10(v));
      return [1, 2, 5, 10].find(k => k * p >= v * (1 - 1e-9)) * p;
    }

    const place = (c, e) => Math.min(Math.max((e.clientX - c.getBoundingClientRect().left) / width, 0), 1);
    const timeAt = e => { const [from, to] = seen(); return from + place(canvas, e) * (to - from); };

    function hover(e) {
      cursor = timeAt(e);
      const rows = [], [from, to] = seen();
      let shown = null;
      for (const l of model.lanes) {
        const { list, first, each } = columns(l, from, to), k = Math.floor(((cursor - begin) / model.width - first) / each), v = list[Math.min(Math.max(k, 0), list.length - 1)];
        shown ||= [begin + (first + k * each) * model.width, each * model.width];
        if (v) rows.push(h("div", {}, h("b", {}, page.amount(v, l.unit)), " " + l.label));
      }
      const most = 12;
      tip.replaceChildren(...rows.slice(0, most), rows.length > most ? h("div", { class: "soft" }, rows.length - most + " more") : "",
        h("div", { class: "soft" }, "in " + page.precise(shown[1] * 1000) + " ms at " + page.number(shown[0], 3) + " s"));
      tip.classList.remove("hidden");
      const x = (cursor - from) / (to - from) * width;
      tip.style.left = (x + 14 + tip.offsetWidth > width ? Math.max(0, x - tip.offsetWidth - 14) : x + 14) + "px";
      tip.style.top = stripHeight + 8 + "px";
      draw();
    }

    canvas.addEventListener("pointerdown", e => {
      if (e.button !== 0) return;
      canvas.setPointerCapture(e.pointerId);
      drag = { from: timeAt(e), to: timeAt(e), x: e.clientX, select: false };
    });
    canvas.addEventListener("pointermove", e => {
      if (drag) {
        drag.to = timeAt(e);
        drag.select ||= Math.abs(e.clientX - drag.x) > 4;
      }
      hover(e);
    });
    canvas.addEventListener("pointerup", () => {
      const d = drag;
      drag = null;
      if (d && d.select) set(Math.min(d.from, d.to), Math.max(d.from, d.to));
      draw();
    });
    canvas.addEventListener("pointerleave", () => { if (!drag) { cursor = null; tip.classList.add("hidden"); draw(); } });
    canvas.addEventListener("dblclick", () => owner.zoom(null));
    box.addEventListener("wheel", e => {
      if (!e.ctrlKey && !e.shiftKey) return; // which scrolls the page
      e.preventDefault();
      const by = e.deltaY || e.deltaX;
      if (e.shiftKey) move(by > 0 ? 0.2 : -0.2);
      else scale(by > 0 ? 1.25 : 0.8, timeAt(e));
    }, { passive: false });
    strip.addEventListener("pointerdown", e => { strip.setPointerCapture(e.pointerId); slide(e); });
    strip.addEventListener("pointermove", e => { if (e.buttons & 1) slide(e); });
    // slide moves the window to where the pointer is.
    function slide(e) {
      if (!owner.range) return;
      const [from, to] = range(), middle = begin + place(strip, e) * (end - begin);
      set(middle - (to - from) / 2, middle + (to - from) / 2);
    }
    box.addEventListener("keydown", e => {
      if (e.ctrlKey || e.metaKey || e.altKey && !dims) return;
      const part = dims ? e.altKey ? 0.01 : 0.1 : 0.25, arrow = { ArrowLeft: -part, ArrowRight: part }[e.key];
      if (arrow && dims && e.shiftKey) { // the end alone
        const [from, to] = range();
        set(from, Math.min(to + arrow * (to - from), end));
        return e.preventDefault();
      }
      switch (e.key) {
        case "+": case "=": scale(dims ? 1 - 2 * part : 0.5); break;
        case "-": scale(dims ? 1 / (1 - 2 * part) : 2); break;
        case "ArrowLeft": case "ArrowRight": move(arrow); break;
        case "Home": case "0": owner.zoom(null); break;
        default: return;
      }
      e.preventDefault();
    });

    const observer = new ResizeObserver(() => {
      if (!box.clientWidth || box.clientWidth === width) return;
      width = box.clientWidth;
      draw();
    });
    observer.observe(box);

    return { root, model: { kind: "tracks" }, draw, setRange: draw, mark() {}, paintAll(pen) { pen.size(width, model.lanes.length * laneHeight + axisHeight); paint(pen, model.lanes.length * laneHeight + axisHeight); }, print() { width = box.clientWidth; draw(); }, destroy() { observer.disconnect(); } };
  };
})();

"use strict";
// makeFlame shows a call tree. The largest call of each comes first. Its owner, if it has one,
// is told of calls: {pick(call), open(call), mode, label}; a click then selects, a double click zooms.
const makeFlame = (() => {
  const h = page.h;
  const rowHeight = 19;

  // kindOf says whose code it is, by its name.
  function kindOf(name) {
    if (name === "[waiting]") return "waiting";
    if (/^(0x|\[)|\?$/.test(name)) return "native";
    const of = name.replace(/^.*!/, "");
    if (/^(System|Interop|Internal)\b|^Microsoft\.(Win32|CSharp)/.test(of)) return "net";
    return /^Microsoft\.(AspNetCore|Extensions|EntityFrameworkCore)/.test(of) ? "aspnet" : "app";
  }

  // A Tree has calls as columns; call 0 stands for all of them.
  class Tree {
    constructor(n) {
      this.n = n;
      this.caller = new Int32Array(n);
      this.frame = new Int32Array(n);
      this.self = new Float64Array(n);
      this.before = new Float64Array(n);
    }

    // finish adds up and sorts what comes from each call. Where light calls are left out,
    // totals are given.
    finish(totals) {
      const n = this.n;
      this.total = this.self.slice();
      this.totalBefore = this.before.slice();
      this.depth = new Int32Array(n);
      this.first = new Int32Array(n).fill(-1);
      this.next = new Int32Array(n).fill(-1);
      for (let i = n - 1; i > 0; i--) {
        this.total[this.caller[i]] += this.total[i];
        this.totalBefore[this.caller[i]] += this.totalBefore[i];
      }
      if (totals) {
        this.total.set(totals, 1);
        this.total[0] = 0;
        for (let i = 1; i < n; i++) if (!this.caller[i]) this.total[0] += this.total[i];
      }
      const order = Array.from({ length: n - 1 }, (_, i) => i + 1);
      const weigh = i => Math.max(this.total[i], this.totalBefore[i]);
      order.sort((a, b) => weigh(a) - weigh(b) || b - a);
      for (const i of order) { // the heaviest comes last, and so first in its list
        this.next[i] = this.first[this.caller[i]];
        this.first[this.caller[i]] = i;
      }
      this.deepest = 0;
      for (let i = 1; i < n; i++) this.deepest = Math.max(this.deepest, this.depth[i] = this.depth[this.caller[i]] + 1);
      return this;
    }
  }

  // callTree returns the tree of a model, within a range of time if there is one and the
  // model knows the times.
  function callTree(model, range) {
    const n = model.caller.length, t = new Tree(n + 1);
    t.frame[0] = -1;
    for (let i = 0; i < n; i++) {
      t.caller[i + 1] = model.caller[i] + 1;
      t.frame[i + 1] = model.frame[i];
      if (!range) t.self[i + 1] = model.self[i];
      if (model.before) t.before[i + 1] = model.before[i];
    }
    if (range) {
      const { from, width, at, call, self } = model.times;
      for (let k = 0; k < at.length; k++) {
        const begin = from + at[k] * width, part = Math.min(begin + width, range[1]) - Math.max(begin, range[0]);
        if (part > 0) t.self[call[k] + 1] += self[k] * Math.min(part / width, 1);
      }
    }
    return t.finish(range ? null : model.total);
  }

  // callerTree turns a tree around: what weighs comes first, and below it its callers.
  function callerTree(of, frames) {
    const caller = [0], frame = [-1], self = [0], before = [0], known = new Map();
    for (let i = 1; i < of.n; i++) {
      if (!of.self[i] && !of.before[i]) continue;
      let at = 0;
      for (let c = i; c > 0; c = of.caller[c]) {
        const key = at * frames + of.frame[c];
        let to = known.get(key);
        if (to === undefined) {
          known.set(key, to = caller.length);
          caller.push(at); frame.push(of.frame[c]); self.push(0); before.push(0);
        }
        at = to;
      }
      self[at] += of.self[i];
      before[at] += of.before[i];
    }
    const t = new Tree(caller.length);
    t.caller.set(caller); t.frame.set(frame); t.self.set(self); t.before.set(before);
    return t.finish();
  }

  function hash(text) {
    let v = 2166136261;
    for (let i = 0; i < text.length; i++) v = Math.imul(v ^ text.charCodeAt(i), 16777619);
    return v >>> 0;
  }

  return function (model, texts, owner) {
    const frames = model.names.length;
    const name = f => f < 0 ? "all" : texts[model.names[f]], full = f => f < 0 ? "all" : texts[model.full[f]];
    let calls = callTree(model);
    let callers = null;
    const state = { mode: owner?.mode || "calls", by: "total", zoom: 0, selected: 0, pattern: null, hits: null };
    const tree = () => state.mode === "callers" ? callers ||= callerTree(calls, frames) : calls;
    const weight = (t, i) => state.by === "before" ? t.totalBefore[i] : t.total[i];
    let boxes = [], charWidth = 7;

    const canvas = h("canvas", { "aria-hidden": "true" }), spacer = h("div");
    const tip = h("div", { class: "tip hidden" });
    const view = h("div", { class: "flameview", tabindex: "0", role: "application", "aria-label": (owner?.label || "call tree") + ": arrow keys go from call to call, Enter zooms in, Escape out" }, canvas, spacer);
    const status = h("div", { class: "flamestatus", role: "status" });
    const matched = h("span", { class: "matched", role: "status" });
    const search = h("input", { type: "search", placeholder: "Search: words, or /a regular expression/", "aria-label": "search in " + (owner?.label || "call tree"), spellcheck: "false", autocomplete: "off" });
    const reset = h("button", { type: "button", onclick: () => zoom(0) }, "Show all");
    const modes = owner?.mode ? null : pick([["calls", "Calls", "the callers above, what they call below"], ["flame", "Flame", "the callers below, what they call above"], ["callers", "Callers", "what weighs above, its callers below"]].slice(0, owner ? 2 : 3),
      m => { state.mode = m; state.zoom = state.selected = 0; find(); draw(true); }, "calls");
    const widths = model.compared ? pick([["total", "After", "widths as they are now"], ["before", "Before", "widths as they were before"]], by => { state.by = by; state.zoom = 0; draw(true); }, "total") : null;

    // pick makes buttons of which one is pressed.
    function pick(list, set, chosen) {
      const box = h("span", { class: "modes", role: "group" });
      for (const [id, text, title] of list) {
        box.append(h("button", { type: "button", title, "aria-pressed": String(id === chosen), onclick: e => {
          for (const b of box.children) b.setAttribute("aria-pressed", String(b === e.currentTarget));
          set(id);
        } }, text));
      }
      return box;
    }

    // scale shows what the colours of a comparison mean.
    function scale() {
      const c = h("canvas", { width: 120, height: 12 });
      const paint = () => { const ctx = c.getContext("2d"); for (let x = 0; x < 120; x++) { ctx.fillStyle = changeColor((x - 60) / 60, dark()); ctx.fillRect(x, 0, 1, 12); } };
      page.onTheme.add(paint);
      requestAnimationFrame(paint);
      return h("span", { class: "scale" }, "less", c, "more than before, by share");
    }

    const legend = model.compared ? null : h("p", { class: "keys" }, [["app", "own code"], ["aspnet", "ASP.NET"], ["net", ".NET"], ["native", "without managed names"], ["waiting", "waiting"]].map(([kind, text]) => { const i = h("i"); i.style.background = "var(--k-" + kind + ")"; return h("span", {}, i, text); }));
    const root = h("div", { class: "flamebox" },
      h("div", { class: "flamebar" }, modes, widths, search, matched, reset, model.compared ? scale() : null),
      view, tip, status,
      legend, owner ? null : h("p", { class: "keys" }, h("kbd", {}, "/"), " searches, ", h("kbd", {}, "←↑↓→"), " go from call to call, ", h("kbd", {}, "Enter"), " zooms in, ", h("kbd", {}, "Esc"), " out"));
    root.style.position = "relative";

    const dark = () => getComputedStyle(document.documentElement).colorScheme === "dark" || getComputedStyle(document.documentElement).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;

    function changeColor(v, isDark) { // from -1, less, to 1, more
      const a = Math.min(1, Math.abs(v)) ** 0.6, hue = v > 0 ? 8 : 212;
      return isDark ? "hsl(" + hue + " " + 60 * a + "% " + (26 + 16 * a) + "%)" : "hsl(" + hue + " " + 75 * a + "% " + (92 - 22 * a) + "%)";
    }

    const palette = new Map(); // by frame
    function color(t, i, isDark) {
      if (model.compared) {
        if (i === 0) return changeColor(0, isDark);
        const now = t.total[i] / (t.total[0] || 1), then = t.totalBefore[i] / (t.totalBefore[0] || 1);
        return changeColor((now - then) / Math.max(now, then, 1e-12) * Math.min(1, 8 * Math.max(now, then) + 0.2), isDark);
      }
      if (i === 0) return page.color("sunk");
      let c = palette.get(t.frame[i]);
      if (!c) palette.set(t.frame[i], c = page.color("k-" + kindOf(name(t.frame[i]))));
      return c;
    }

    // label fits a name into so many characters.
    function label(text, room) {
      if (text.length <= room) return text;
      const short = text.replace(/^.*!/, "").replace(/\(.*$/, "");
      if (short.length <= room) return short;
      const last = short.replace(/^.*[.:](?=[^.:]+$)/, "");
      if (last.length <= room) return last;
      return room >= 3 ? last.slice(0, room - 1) + "…" : "";
    }

    // pathTo returns the calls that lead to the one that is zoomed to, from all of them on.
    function pathTo(t) {
      const path = [];
      for (let i = state.zoom; i > 0; i = t.caller[i]) path.unshift(i);
      return [0, ...path];
    }

    // draw draws the calls that show, and remembers where they are.
    function draw(whole) {
      const t = tree(), width = view.clientWidth;
      if (width === 0) return;
      const height = (1 + deepest(t, state.zoom)) * rowHeight + 2;
      const room = Math.min(height, parseFloat(getComputedStyle(view).maxHeight) || height);
      spacer.style.height = Math.max(0, height - room) + "px";
      if (whole) view.scrollTop = state.mode === "flame" ? height : 0;
      const dpr = devicePixelRatio || 1;
      canvas.style.width = width + "px";
      canvas.style.height = room + "px";
      canvas.width = Math.round(width * dpr);
      canvas.height = Math.round(room * dpr);
      const ctx = canvas.getContext("2d");
      ctx.scale(dpr, dpr);
      boxes = [];
      paint(ctx, width, height, room, view.scrollTop);
      reset.disabled = state.zoom === 0;
      describe();
    }

    // paint paints what lies between top and as much as there is room for, of all that has a height.
    function paint(ctx, width, height, room, top) {
      const t = tree(), up = state.mode === "flame", path = pathTo(t), isDark = dark();
      ctx.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
      charWidth = ctx.measureText("0000000000").width / 10;
      ctx.textBaseline = "middle";
      const text = page.color("ink"), faint = page.color("soft"), accent = page.color("accent"), back = page.color("panel");
      const box = (i, x, w, d) => {
        const y = (up ? height - (d + 1) * rowHeight - 1 : d * rowHeight + 1) - top, wide = Math.max(w - 1, 0.5);
        if (y > room || y + rowHeight < 0) return;
        boxes.push({ i, x, y, w });
        const hit = state.hits && state.hits[i], strength = i !== state.zoom && d < path.length - 1 ? 0.55 : 1;
        const veil = share => { ctx.globalAlpha = strength * share; ctx.fillStyle = back; ctx.fillRect(x, y, wide, rowHeight - 1); ctx.globalAlpha = strength; };
        ctx.globalAlpha = strength;
        ctx.fillStyle = color(t, i, isDark);
        ctx.fillRect(x, y, wide, rowHeight - 1);
        if (!model.compared && hash(name(t.frame[i])) & 1) veil(0.12);
        if (state.hits && !hit) veil(0.7);
        if (hit) { ctx.fillStyle = accent; ctx.fillRect(x, y + rowHeight - 4, Math.max(w - 1, 1), 3); }
        const shown = label(i === 0 ? "all" : name(t.frame[i]), Math.floor((w - 8) / charWidth));
        if (shown) { ctx.fillStyle = state.hits && !hit ? faint : text; ctx.fillText(shown, x + 4, y + rowHeight / 2); }
        if (i === state.selected && i > 0) { ctx.strokeStyle = text; ctx.lineWidth = 2; ctx.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), rowHeight - 3); }
        ctx.globalAlpha = 1;
      };
      path.forEach((i, d) => { if (d < path.length - 1) box(i, 0, width, d); });
      const all = weight(t, state.zoom);
      const stack = [[state.zoom, 0, width, path.length - 1]];
      while (stack.length) {
        const [i, x, w, d] = stack.pop();
        box(i, x, w, d);
        let at = x;
        for (let c = t.first[i]; c >= 0; c = t.next[c]) {
          const cw = all > 0 ? weight(t, c) / all * width : 0;
          if (cw >= 0.4) stack.push([c, at, cw, d + 1]);
          at += cw;
        }
      }
    }

    // deepest returns how deep the calls are that a call leads to, as far as they show.
    function deepest(t, i) {
      let most = t.depth[i];
      const least = weight(t, i) * 0.4 / Math.max(view.clientWidth, 1), stack = [i];
      while (stack.length) {
        const at = stack.pop();
        most = Math.max(most, t.depth[at]);
        for (let c = t.first[at]; c >= 0; c = t.next[c]) if (weight(t, c) >= least) stack.push(c);
      }
      return most;
    }

    // callOf returns a call as owners know it.
    function callOf(i) {
      const t = tree();
      return { name: name(t.frame[i]), full: t.frame[i] < 0 ? "" : full(t.frame[i]), total: t.total[i], self: t.self[i] };
    }

    const unit = model.unit ? " " + model.unit : "";
    const share = (v, of) => of > 0 ? page.precise(100 * v / of) + " %" : "-";
    function details(i) {
      const t = tree(), own = state.mode === "callers" ? null : t.self[i];
      let text = page.number(t.total[i], model.unit === "ms" ? 1 : 0) + unit + ", " + share(t.total[i], t.total[0]);
      if (own !== null && i > 0) text += "; by itself " + page.number(own, model.unit === "ms" ? 1 : 0) + unit + ", " + share(own, t.total[0]);
      if (model.compared) text += "; before " + page.number(t.totalBefore[i], model.unit === "ms" ? 1 : 0) + unit + ", " + share(t.totalBefore[i], t.totalBefore[0]);
      return text;
    }

    let onLines = null; // of each call, its parts on lines, the largest first
    function linesOf(i) {
      if (!model.onCall || state.mode === "callers" || i <= 0) return "";
      if (!onLines) {
        onLines = new Map();
        model.onCall.forEach((call, k) => {
          if (!onLines.has(call + 1)) onLines.set(call + 1, []);
          onLines.get(call + 1).push([model.onTotal[k], texts[model.lines[model.onLine[k]]]]);
        });
        for (const list of onLines.values()) list.sort((a, b) => b[0] - a[0]);
      }
      const most = 6, list = onLines.get(i) || [];
      if (!list.length) return "";
      const text = list.slice(0, most).map(([v, line]) => line + " " + page.number(v, model.unit === "ms" ? 1 : 0) + unit).join(", ");
      return h("div", {}, h("span", { class: "soft" }, list.length === 1 ? "line " : "lines "), text + (list.length > most ? " and " + (list.length - most) + " more" : ""));
    }

    function describe() {
      const t = tree(), i = state.selected || state.zoom, group = i > 0 ? texts[model.groups[t.frame[i]]] : "";
      status.replaceChildren(h("b", {}, full(t.frame[i])), group ? h("span", { class: "soft" }, "  " + group) : "", h("div", {}, details(i)), linesOf(i));
    }

    function zoom(i) {
      state.zoom = i;
      choose(i);
      draw(true);
    }

    function choose(i) {
      state.selected = i;
      owner?.pick(callOf(i));
    }

    // find marks what the search has, and adds up what weighs below it once.
    function find() {
      const t = tree(), text = search.value.trim();
      state.hits = null;
      matched.textContent = "";
      search.setCustomValidity("");
      if (!text) return;
      let test;
      const re = /^\/(.+)\/?$/.exec(text.replace(/\/$/, ""));
      if (re) {
        try { const r = new RegExp(re[1], "i"); test = s => r.test(s); } catch { search.setCustomValidity("no regular expression"); matched.textContent = "no regular expression"; return; }
      } else {
        const words = text.toLowerCase().split(/\s+/);
        test = s => { s = s.toLowerCase(); return words.every(w => s.includes(w)); };
      }
      const has = new Uint8Array(frames);
      for (let f = 0; f < frames; f++) has[f] = test(full(f)) || test(name(f)) ? 1 : 0;
      state.hits = new Uint8Array(t.n);
      const within = new Uint8Array(t.n); // of a call that is marked
      let sum = 0, count = 0;
      for (let i = 1; i < t.n; i++) {
        state.hits[i] = has[t.frame[i]];
        count += has[t.frame[i]];
        within[i] = within[t.caller[i]] || state.hits[i];
        if (state.hits[i] && !within[t.caller[i]]) sum += weight(t, i);
      }
      matched.textContent = count ? share(sum, weight(t, 0)) + " matched" : "nothing matched";
    }

    let timer;
    search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { find(); draw(); }, 80); });
    search.addEventListener("keydown", e => { if (e.key === "Escape") { search.value = ""; find(); draw(); view.focus(); e.preventDefault(); e.stopPropagation(); } });

    function under(e) {
      const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
      return boxes.findLast(b => x >= b.x && x < b.x + Math.max(b.w, 1) && y >= b.y && y < b.y + rowHeight);
    }
    view.addEventListener("mousemove", e => {
      const b = under(e);
      view.style.cursor = b ? "pointer" : "";
      if (!b) return tip.classList.add("hidden");
      const t = tree(), n = full(t.frame[b.i]);
      tip.replaceChildren(h("b", {}, n.length > 160 ? n.slice(0, 160) + "…" : n), h("div", {}, details(b.i)));
      tip.classList.remove("hidden");
      tip.style.whiteSpace = "normal";
      tip.style.maxWidth = "min(44rem, 90%)";
      const r = root.getBoundingClientRect(), left = e.clientX - r.left, below = e.clientY - r.top;
      tip.style.left = Math.max(0, Math.min(left + 12, r.width - tip.offsetWidth - 4)) + "px";
      tip.style.top = below + (e.clientY + tip.offsetHeight + 24 > innerHeight ? -tip.offsetHeight - 10 : 16) + "px";
    });
    view.addEventListener("mouseleave", () => tip.classList.add("hidden"));
    view.addEventListener("click", e => { const b = under(e); if (b) { tip.classList.add("hidden"); if (owner) { choose(b.i); draw(); } else zoom(b.i); } });
    view.addEventListener("dblclick", e => { const b = under(e); if (b && owner) zoom(b.i); });
    let scrolling = 0;
    view.addEventListener("scroll", () => { tip.classList.add("hidden"); cancelAnimationFrame(scrolling); scrolling = requestAnimationFrame(() => draw()); });

    // step selects the call beside the selected one.
    function step(key) {
      const t = tree(), i = state.selected;
      const down = state.mode === "flame" ? "ArrowUp" : "ArrowDown";
      if (key === "ArrowUp" || key === "ArrowDown") {
        if (key !== down) return i > 0 ? t.caller[i] : i;
        let c = t.first[i];
        while (c >= 0 && !weight(t, c)) c = t.next[c];
        return c >= 0 ? c : i;
      }
      const row = boxes.filter(b => t.depth[b.i] === t.depth[i]).sort((a, b) => a.x - b.x), k = row.findIndex(b => b.i === i);
      const to = row[k + (key === "ArrowRight" ? 1 : -1)];
      return k >= 0 && to ? to.i : i;
    }

    // reveal scrolls such that the selected call shows.
    function reveal() {
      const t = tree();
      let inside = false;
      for (let i = state.selected; i > 0; i = t.caller[i]) inside ||= i === state.zoom;
      if (!inside && state.zoom) state.zoom = state.selected;
      const d = t.depth[state.selected], height = (1 + deepest(t, state.zoom)) * rowHeight + 2;
      const y = state.mode === "flame" ? height - (d + 1) * rowHeight : d * rowHeight;
      if (y < view.scrollTop) view.scrollTop = y;
      if (y + rowHeight > view.scrollTop + view.clientHeight) view.scrollTop = y + rowHeight - view.clientHeight;
      draw();
    }

    view.addEventListener("keydown", e => {
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      switch (e.key) {
        case "ArrowUp": case "ArrowDown": case "ArrowLeft": case "ArrowRight": choose(step(e.key)); reveal(); break;
        case "Enter": if (owner && state.zoom === state.selected) owner.open(callOf(state.selected)); else zoom(state.selected); break;
        case "Escape": case "Backspace": if (owner && !state.zoom) return; zoom(state.zoom ? tree().caller[state.zoom] : 0); break;
        case "Home": zoom(0); break;
        default: return;
      }
      e.preventDefault();
      e.stopPropagation();
    });
    if (!owner) document.addEventListener("keydown", e => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) || !root.isConnected) return;
      search.focus();
      e.preventDefault();
    });
    let width = 0, tall = 0; // a window that gets taller shows more rows
    new ResizeObserver(() => {
      if (view.clientWidth === width && view.clientHeight === tall) return;
      const first = width === 0; // which shows the root
      width = view.clientWidth;
      tall = view.clientHeight;
      draw(first);
    }).observe(view);
    root.redraw = () => { palette.clear(); if (root.isConnected) draw(); };
    if (!owner) page.onTheme.add(root.redraw);

    // weigh returns what each frame weighs by itself, and with what it calls; a frame that
    // calls itself weighs its outermost call.
    function weigh() {
      const self = new Float64Array(frames), total = new Float64Array(frames), open = new Uint32Array(frames);
      const walk = [];
      for (let c = calls.first[0]; c >= 0; c = calls.next[c]) walk.push(c);
      while (walk.length) {
        const i = walk.pop();
        if (i < 0) { open[calls.frame[~i]]--; continue; }
        const f = calls.frame[i];
        self[f] += calls.self[i];
        if (!open[f]) total[f] += calls.total[i];
        open[f]++;
        walk.push(~i);
        for (let c = calls.first[i]; c >= 0; c = calls.next[c]) walk.push(c);
      }
      return { self, total, all: calls.total[0] };
    }

    const followers = [];
    return {
      root,
      // follow has a table of the methods show what they weigh in the time that is shown.
      follow(table) {
        if (!model.times || !table.model.frames) return;
        table.follows = true;
        followers.push(table);
      },
      // limit shows what a range of time has, in seconds; all if it is null.
      limit(range) {
        if (!model.times) return;
        calls = callTree(model, range);
        callers = null;
        onLines = range ? new Map() : null;
        state.zoom = state.selected = 0;
        find();
        draw(true);
        if (!followers.length) return;
        const w = weigh(), share = v => w.all > 0 ? 100 * v / w.all : NaN;
        for (const table of followers) {
          const of = table.model.frames, pick = value => Float64Array.from(of, value);
          table.replace("self", pick(f => w.self[f]));
          table.replace("selfPercent", pick(f => share(w.self[f])));
          table.replace("total", pick(f => w.total[f]));
          table.replace("totalPercent", pick(f => share(w.total[f])));
          table.select();
        }
      },
      // search looks for a text.
      search(text) { search.value = text; find(); draw(); root.scrollIntoView({ block: "nearest", behavior: "instant" }); },
      print() { draw(); },
      // paintAll paints all that is zoomed to, on a canvas that page.svg gives it.
      paintAll(pen) {
        const width = view.clientWidth, height = (1 + deepest(tree(), state.zoom)) * rowHeight + 2, seen = boxes;
        pen.size(width, height);
        paint(pen, width, height, height, 0);
        boxes = seen;
      },
      focus: () => view.focus(),
      find: () => search.focus(),
    };
  };
})();

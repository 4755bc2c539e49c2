// A figure of rows over time: a dot or a bar for each. Keys walk them in order of time.
import { h, amount, color } from "./ask.js";
import { niceStep } from "./lanes.js";

const tall = 150, left = 66, foot = 20, head = 10;

// pointsOf draws rows. at and value say where a row lies, hue its colour, and shape is "dot", "bar"
// or "line"; log makes the scale one of powers of ten.
export function pointsOf({ label, rows, at, value, hue, unit, shape = "dot", log = false, range, say, pick, open }) {
  const points = rows.filter(r => Number.isFinite(at(r)) && Number.isFinite(value(r)) && (value(r) >= 0 || shape === "line")).sort((a, b) => at(a) - at(b));
  const most = points.reduce((m, r) => Math.max(m, value(r)), 0) || 1, least = log ? Math.max(points.reduce((m, r) => value(r) > 0 ? Math.min(m, value(r)) : m, most), most / 1e6) : points.reduce((m, r) => Math.min(m, value(r)), 0);
  const begin = range?.[0] ?? (points.length ? at(points[0]) : 0), end = Math.max(range?.[1] ?? (points.length ? at(points.at(-1)) : 1), begin + 1e-6);
  const canvas = h("canvas", { "aria-hidden": "true" }), tip = h("div", { class: "tip", hidden: true });
  const box = h("div", { class: "points", tabindex: "0", role: "application", "aria-label": label + ", up to " + amount(most, unit) + ": arrow keys go from one to the next, the table below has them all" }, canvas, tip);
  let width = 0, chosen = -1;

  const x = t => left + (t - begin) / (end - begin) * (width - left - 6);
  const part = v => log ? (most > least ? Math.log(Math.max(v, least) / least) / Math.log(most / least) : 1) : (v - least) / (most - least);
  const y = v => tall - foot - part(v) * (tall - foot - head);

  // ticks are the values that the axis names.
  function ticks() {
    if (!log) return [least, (least + most) / 2, most];
    const list = [];
    for (let p = 10 ** Math.ceil(Math.log10(least)); p <= most; p *= 10) list.push(p);
    return list;
  }

  function draw() {
    width = box.clientWidth;
    if (width <= left) return;
    const ratio = devicePixelRatio || 1, g = canvas.getContext("2d");
    canvas.width = width * ratio; canvas.height = tall * ratio;
    canvas.style.width = width + "px"; canvas.style.height = tall + "px";
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(g);
  }

  function paint(g) {
    const colours = new Map();
    g.font = "11px " + getComputedStyle(document.body).fontFamily;
    g.textBaseline = "middle";
    for (const v of ticks()) {
      g.fillStyle = color("line"); g.fillRect(left, Math.round(y(v)), width - left, 1);
      g.fillStyle = color("soft"); g.textAlign = "right"; g.fillText(amount(v, unit), left - 6, Math.max(y(v), 6));
    }
    g.fillStyle = color("soft");
    const step = niceStep((end - begin) / Math.max((width - left) / 110, 1));
    g.textAlign = "center";
    for (let t = Math.ceil(begin / step) * step; t <= end; t += step) g.fillText(amount(Number(t.toPrecision(9)), "ms"), Math.min(x(t), width - 24), tall - 8);
    if (shape === "line") {
      g.strokeStyle = color(points.length ? hue(points[0]) : "cpu");
      g.lineWidth = 1.5;
      g.beginPath();
      points.forEach((r, i) => i ? g.lineTo(x(at(r)), y(value(r))) : g.moveTo(x(at(r)), y(value(r))));
      g.stroke();
    }
    points.forEach((r, i) => {
      if (shape === "line" && points.length > 200 && i !== chosen) return;
      const name = hue(r), px = x(at(r)), py = y(value(r));
      if (!colours.has(name)) colours.set(name, color(name));
      g.fillStyle = colours.get(name);
      if (shape === "bar") g.fillRect(px - 1, py, 3, Math.max(tall - foot - py, 1));
      else { g.globalAlpha = 0.75; g.beginPath(); g.arc(px, py, shape === "line" ? 2 : 3.5, 0, 7); g.fill(); g.globalAlpha = 1; }
      if (i === chosen) { g.strokeStyle = color("ink"); g.lineWidth = 2; g.beginPath(); g.arc(px, py, 6, 0, 7); g.stroke(); }
    });
  }

  // nearest returns the point at the pointer, or -1.
  function nearest(e) {
    let best = -1, far = 14;
    points.forEach((r, i) => {
      const dx = Math.abs(x(at(r)) - e.offsetX), dy = shape === "bar" ? 0 : Math.abs(y(value(r)) - e.offsetY);
      if (Math.hypot(dx, dy) < far) { far = Math.hypot(dx, dy); best = i; }
    });
    return best;
  }

  function choose(i) {
    if (i < 0 || i >= points.length) return;
    chosen = i;
    draw();
    box.setAttribute("aria-description", say(points[i]));
    pick(points[i]);
  }

  box.addEventListener("click", e => choose(nearest(e)));
  box.addEventListener("dblclick", e => { const i = nearest(e); if (i >= 0) open(points[i]); });
  box.addEventListener("pointermove", e => {
    const i = nearest(e);
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = say(points[i]);
    tip.style.left = Math.max(Math.min(e.offsetX + 12, width - 300), 0) + "px";
    tip.style.top = e.offsetY + 14 + "px";
  });
  box.addEventListener("pointerleave", () => { tip.hidden = true; });
  box.addEventListener("keydown", e => {
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: points.length - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); choose(Math.max(to, 0)); }
    else if (e.key === "Enter" && chosen >= 0) { e.preventDefault(); open(points[chosen]); }
  });
  new ResizeObserver(draw).observe(box);
  box.redraw = draw;
  box.figure = { paintAll(pen) { pen.size(width, tall); paint(pen); } };
  // mark shows a row that is chosen elsewhere.
  box.mark = row => { chosen = points.indexOf(row); draw(); };
  return box;
}

// legendOf says which colour means what.
export const legendOf = pairs => h("p", { class: "legend soft" }, pairs.map(([hue, text]) => {
  const i = h("i", { class: "swatch" });
  i.style.background = "var(--" + hue + ")";
  return h("span", {}, i, text);
}));

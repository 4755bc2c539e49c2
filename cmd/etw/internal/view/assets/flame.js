// A flame graph of the rows of a tree: callers above, what they call below.
import { h, number, amount, color, short } from "./base.js";

const tall = 20;

// treeOf makes calls of rows in their order, by depth.
export function treeOf(rows, weight) {
  const all = { name: "all", full: "", total: 0, self: 0, kids: [], depth: -1 };
  const path = [all];
  for (const r of rows) {
    const call = { name: r.method, full: r.full, total: weight(r.total), self: weight(r.self), kids: [], depth: r.depth };
    path.length = r.depth + 1;
    path[r.depth].kids.push(call);
    call.caller = path[r.depth];
    path.push(call);
  }
  all.total = all.kids.reduce((n, k) => n + k.total, 0);
  return all;
}

const hash = text => { let v = 2166136261; for (const c of text) v = Math.imul(v ^ c.charCodeAt(0), 16777619); return v >>> 0; };

// kindOf says whose code it is, by its name.
export function kindOf(full) {
  if (/^0x|\?$|^\[/.test(full)) return "native";
  if (/^(System|Interop|Internal)\b|^Microsoft\.(Win32|CSharp)/.test(full)) return "net";
  if (/^Microsoft\.(AspNetCore|Extensions|EntityFrameworkCore)/.test(full)) return "aspnet";
  return "app";
}

export function flameOf({ tree, unit, up = false, pick = () => {}, open = () => {}, label = "flame graph" }) {
  let zoom = tree, at = tree, boxes = [], width = 0, sought = "", scrolled = false;
  const canvas = h("canvas", { "aria-hidden": "true" }), tip = h("div", { class: "tip", hidden: true });
  const box = h("div", { class: "flamebox", tabindex: "0", role: "application", "aria-label": label + ": arrow keys go from call to call, Enter zooms in, Escape out" }, canvas, tip);
  const said = h("p", { class: "soft", role: "status" });
  const input = h("input", { type: "search", placeholder: "Search  /", "aria-label": "search in " + label, oninput: () => { sought = input.value.toLowerCase(); draw(); } });
  const root = h("div", { class: "flame" }, h("div", { class: "gridtools" }, input, said), box);

  function place(call, x, w, depth) {
    if (w < 0.7) return;
    boxes.push({ call, x, w, depth });
    let left = x;
    for (const k of [...call.kids].sort((a, b) => b.total - a.total)) {
      const part = call.total > 0 ? k.total / call.total * w : 0;
      place(k, left, part, depth + 1);
      left += part;
    }
  }

  function draw() {
    width = box.clientWidth;
    if (!width) return;
    boxes = [];
    place(zoom, 0, width, 0);
    const deepest = boxes.reduce((d, b) => Math.max(d, b.depth), 0), height = (deepest + 1) * tall, ratio = Math.min(devicePixelRatio || 1, 32000 / height);
    canvas.width = width * ratio; canvas.height = height * ratio;
    canvas.style.width = width + "px"; canvas.style.height = height + "px";
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "12px " + getComputedStyle(document.body).fontFamily;
    g.textBaseline = "middle";
    let hits = 0, counted = new Set();
    const fills = new Map(["app", "aspnet", "net", "native"].map(k => [k, color("k-" + k)]));
    const ink = color("ink"), soft = color("soft"), bg = color("bg"), accent = color("accent");
    for (const b of boxes) {
      const y = up ? height - (b.depth + 1) * tall : b.depth * tall, hit = sought && (b.call.full || b.call.name).toLowerCase().includes(sought);
      if (hit && !ancestorIn(b.call, counted)) { hits += b.call.total; counted.add(b.call); }
      g.globalAlpha = sought && !hit ? 0.35 : 1;
      g.fillStyle = b.call === tree ? color("sunk") : fills.get(kindOf(b.call.full));
      g.fillRect(b.x, y, Math.max(b.w - 1, 0.7), tall - 1);
      if (hash(b.call.name) & 1) { g.globalAlpha *= 0.12; g.fillStyle = bg; g.fillRect(b.x, y, b.w - 1, tall - 1); g.globalAlpha = sought && !hit ? 0.35 : 1; }
      if (b.call === at) { g.strokeStyle = accent; g.lineWidth = 2; g.strokeRect(b.x + 1, y + 1, Math.max(b.w - 3, 1), tall - 3); }
      if (b.w > 28) {
        g.save(); g.beginPath(); g.rect(b.x, y, b.w - 4, tall); g.clip();
        const [name, where] = short(b.call.name);
        g.fillStyle = ink; g.fillText(name, b.x + 5, y + tall / 2);
        if (where && b.w > 160) { const w = g.measureText(name).width; g.fillStyle = soft; g.fillText(where, b.x + 11 + w, y + tall / 2); }
        g.restore();
      }
      g.globalAlpha = 1;
    }
    if (up && !scrolled) { box.scrollTop = box.scrollHeight; scrolled = true; }
    said.textContent = sought ? "found: " + amount(hits, unit) + ", " + number((hits / tree.total * 100).toPrecision(3)) + " %" : describe(at);
  }

  function ancestorIn(call, set) {
    for (let c = call.caller; c; c = c.caller) if (set.has(c)) return true;
    return false;
  }

  const describe = c => (c === tree ? "all" : c.full || c.name) + ": " + amount(c.total, unit) + " in all, " + amount(c.self, unit) + " itself, " + number((tree.total ? c.total / tree.total * 100 : 0).toPrecision(3)) + " %";
  const hitOf = e => boxes.findLast(b => e.offsetX >= b.x && e.offsetX < b.x + Math.max(b.w, 1) && Math.floor((up ? canvas.clientHeight - e.offsetY : e.offsetY) / tall) === b.depth);

  function select(call) { at = call; draw(); pick(call); }
  function into(call) { zoom = at = call; draw(); pick(call); }
  box.addEventListener("click", e => { const b = hitOf(e); if (b) select(b.call); });
  box.addEventListener("dblclick", e => { const b = hitOf(e); if (b) into(b.call); });
  box.addEventListener("pointermove", e => {
    const b = e.target === canvas && hitOf(e);
    tip.hidden = !b;
    if (!b) return;
    tip.textContent = describe(b.call);
    tip.style.left = Math.max(Math.min(e.offsetX + 12, width - 380), 0) + "px";
    tip.style.top = e.offsetY + 18 + "px";
  });
  box.addEventListener("pointerleave", () => { tip.hidden = true; });
  box.addEventListener("keydown", e => {
    const heaviest = c => c.kids.reduce((m, k) => !m || k.total > m.total ? k : m, null);
    const beside = d => { const s = [...(at.caller?.kids || [])].sort((a, b) => b.total - a.total); return s[s.indexOf(at) + d]; };
    const to = { ArrowDown: up ? at.caller : heaviest(at), ArrowUp: up ? heaviest(at) : at.caller, ArrowRight: beside(1), ArrowLeft: beside(-1) }[e.key];
    if (e.key === "Enter") { e.preventDefault(); if (zoom === at) open(at); else into(at); }
    else if (e.key === "Escape" && zoom !== tree) { e.preventDefault(); e.stopPropagation(); into(zoom.caller || tree); }
    else if (e.key.startsWith("Arrow")) { e.preventDefault(); if (to) select(to); }
  });
  new ResizeObserver(draw).observe(box);
  root.search = () => input.focus();
  root.take = () => box.focus();
  root.redraw = draw;
  return root;
}

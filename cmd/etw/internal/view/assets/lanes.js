// Lanes of what happened when. A window is dragged in them; it dims what is outside.
import { h, amount, color } from "./base.js";

const laneHeight = 34, axisHeight = 20;

// colours of lanes by their kind; the rest has the one of counters.
const hues = {
  cpu: "cpu", managed: "cpu", external: "other", gc: "gc", pause: "gc", heap: "gc", alloc: "gc", exceptions: "bad", contention: "lock", waits: "blocked",
  jit: "queue", compiling: "queue", threadpool: "queue", workers: "queue", queued: "queue", running: "cpu", blocked: "blocked", lock: "lock",
  awaiting: "await", requestTime: "await", requests: "await", others: "other",
};

// hueOf returns the colour of a lane: of a cause's, that of the cause, which its name ends in.
function hueOf(lane) {
  const kind = lane.kind === "causes" ? lane.of.replace(/^.*: /, "") : lane.kind;
  return hues[kind] || hues[Object.keys(hues).find(k => kind.startsWith(k))] || "cpu";
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is not below v.
export function niceStep(v) {
  const p = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 5, 10].map(f => f * p).find(s => s >= v);
}

// lanesOf draws the lanes of a timeline. choose is called with a window, or null for all.
export function lanesOf(timeline, lanes, chosen, choose, rowHeight = laneHeight) {
  const begin = timeline.fromMs, end = Math.max(timeline.toMs, begin + 1e-6), canvas = h("canvas", { "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const several = new Set(lanes.map(l => l.pid)).size > 1;
  const nameOf = l => [l.kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase(), l.of || l.name, several && l.pid >= 0 ? l.process || l.pid : ""].filter(Boolean).join(" ");
  const shortOf = l => [l.of?.replace(/^.*\//, "") || "", nameOf({ ...l, of: "", name: "" })].filter(Boolean).join(", ");
  // Tasks of several providers have the same name.
  const whoseOf = l => l.of?.includes("/") && lanes.some(o => o !== l && shortOf(o) === shortOf(l)) ? " of " + l.of.replace(/\/.*$/, "").replace(/^.*[.-]/, "") : "";
  const labels = h("div", { class: "lanelabels" }, lanes.map(l => h("div", { class: "lanelabel", title: nameOf(l) },
    h("span", { class: "lanename" }, shortOf(l)), h("span", { class: "soft" }, (l.how === "sum" ? amount(l.total, l.unit) : "up to " + amount(l.highest, l.unit)) + whoseOf(l)))));
  const box = h("div", { class: "lanebox", tabindex: "0", role: "slider", "aria-label": "window of time", "aria-valuemin": begin, "aria-valuemax": end }, canvas, tip);
  const root = h("div", { class: "lanes" }, labels, box);
  root.style.setProperty("--lane", rowHeight + "px");
  let [from, to] = [chosen?.[0] ?? begin, chosen?.[1] ?? end], drag = null, width = 0;

  const x = t => (t - begin) / (end - begin) * width, t = x => begin + Math.min(Math.max(x / width, 0), 1) * (end - begin);

  function draw() {
    width = box.clientWidth;
    if (!width) return;
    const ratio = devicePixelRatio || 1, height = lanes.length * rowHeight + axisHeight, g = canvas.getContext("2d");
    canvas.width = width * ratio; canvas.height = height * ratio;
    canvas.style.width = width + "px"; canvas.style.height = height + "px";
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    lanes.forEach((l, i) => {
      const n = l.values.length, top = axisHeight + i * rowHeight + 4, tall = rowHeight - 8;
      g.fillStyle = color(hueOf(l));
      for (let k = 0; k < n; k++) {
        const v = l.values[k];
        if (!v || !l.highest) continue;
        const a = Math.round(k / n * width), b = Math.round((k + 1) / n * width), y = Math.max(v / l.highest * tall, 1);
        g.fillRect(a, top + tall - y, Math.max(b - a - (b - a > 3 ? 0.5 : 0), 1), y);
      }
      g.fillStyle = color("line");
      g.fillRect(0, top + tall, width, 1);
    });
    g.font = "11px " + getComputedStyle(document.body).fontFamily;
    g.fillStyle = color("soft");
    const step = niceStep((end - begin) / Math.max(width / 110, 1));
    for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
      g.fillStyle = color("line");
      g.fillRect(x(at), 8, 1, height - 8);
      g.fillStyle = color("soft");
      g.fillText(amount(Number(at.toPrecision(9)), "ms"), Math.min(x(at) + 3, width - 44), 12);
    }
    if (from > begin || to < end) {
      g.fillStyle = color("veil");
      g.fillRect(0, 0, x(from), height); g.fillRect(x(to), 0, width - x(to), height);
      g.fillStyle = color("accent");
      g.fillRect(x(from) - 1, 0, 2, height); g.fillRect(x(to) - 1, 0, 2, height);
    }
    box.setAttribute("aria-valuetext", amount(from, "ms") + " to " + amount(to, "ms"));
    box.setAttribute("aria-valuenow", String(from));
  }

  box.addEventListener("pointerdown", e => {
    if (e.button) return;
    drag = { at: t(e.offsetX), from, to };
    box.setPointerCapture(e.pointerId);
  });
  box.addEventListener("pointermove", e => {
    const at = t(e.offsetX);
    if (drag) {
      [from, to] = [Math.min(drag.at, at), Math.max(drag.at, at)];
      draw();
    }
    const lane = lanes[Math.floor((e.offsetY - axisHeight) / rowHeight)];
    tip.hidden = !lane;
    if (!lane) return;
    const k = Math.min(Math.floor((at - begin) / (end - begin) * lane.values.length), lane.values.length - 1);
    tip.textContent = nameOf(lane) + ": " + amount(lane.values[k], lane.unit) + " at " + amount(at, "ms");
    tip.style.left = Math.min(e.offsetX + 12, width - 200) + "px";
    tip.style.top = e.offsetY + 14 + "px";
  });
  box.addEventListener("pointerleave", () => { tip.hidden = true; });
  box.addEventListener("pointerup", () => {
    if (!drag) return;
    const moved = x(to) - x(from) > 3;
    if (!moved) [from, to] = [drag.from, drag.to];
    drag = null;
    if (moved) choose([from, to]);
    else draw();
  });
  box.addEventListener("dblclick", () => choose(null));
  box.addEventListener("keydown", e => {
    const part = (to - from) * (e.altKey ? 0.01 : 0.1);
    let next = null;
    if (e.key === "ArrowLeft") next = e.shiftKey ? [from, to - part] : [from - part, to - part];
    else if (e.key === "ArrowRight") next = e.shiftKey ? [from, to + part] : [from + part, to + part];
    else if (e.key === "+") next = [from + part, to - part];
    else if (e.key === "-") next = [from - part, to + part];
    else return;
    e.preventDefault();
    from = Math.max(next[0], begin); to = Math.min(Math.max(next[1], from), end);
    draw();
    choose(from <= begin && to >= end ? null : [from, to]);
  });
  new ResizeObserver(draw).observe(box);
  root.redraw = draw;
  return root;
}

// Lanes of what happened when, drawn as in reports. A window is dragged in them; it dims what is outside.
import { h, amount } from "./ask.js";

// colours of lanes by their kind; the rest has the one of counters.
const hues = {
  cpu: "cpu", managed: "cpu", external: "other", gc: "gc", pause: "gc", heap: "gc", alloc: "gc", exceptions: "bad", contention: "lock", waits: "blocked",
  jit: "jit", compiling: "jit", threadpool: "queue", workers: "queue", queued: "queue", running: "cpu", blocked: "blocked", lock: "lock",
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
export function lanesOf(timeline, lanes, chosen, choose, laneHeight) {
  const several = new Set(lanes.map(l => l.pid)).size > 1;
  const nameOf = l => [l.kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase(), l.of || l.name, several && l.pid >= 0 ? l.process || l.pid : ""].filter(Boolean).join(" ");
  const shortOf = l => [l.of?.replace(/^.*\//, "").replace(/^.{12,}\./, "") || "", nameOf({ ...l, of: "", name: "" })].filter(Boolean).join(", ");
  // Tasks of several providers have the same name.
  const whoseOf = l => l.of?.includes("/") && lanes.some(o => o !== l && shortOf(o) === shortOf(l)) ? l.of.replace(/\/.*$/, "").replace(/^.*[.-]/, "") + " " : "";
  const model = {
    from: timeline.fromMs / 1000, width: timeline.bucketMs / 1000, laneHeight,
    lanes: lanes.map(l => ({ label: whoseOf(l) + shortOf(l), title: nameOf(l), total: l.how === "sum" ? amount(l.total, l.unit) : "up to " + amount(l.highest, l.unit), unit: l.unit === "count" ? "" : l.unit, how: l.how, color: hueOf(l), y: l.values })),
  };
  const owner = {
    dims: true, range: chosen && chosen.map(t => t / 1000),
    zoom(range) {
      owner.range = range;
      tracks.draw();
      choose(range && range.map(t => t * 1000));
    },
  };
  const tracks = makeTracks(model, owner);
  tracks.root.redraw = tracks.draw;
  // choose shows another window, or null for all.
  tracks.root.choose = w => { owner.range = w && w.map(t => t / 1000); tracks.draw(); };
  tracks.root.figure = tracks;
  return tracks.root;
}

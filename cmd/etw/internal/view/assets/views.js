// The views: each asks its questions, and returns what to show.
import { h, ask, amount, number, parseCSV, time, titleOf } from "./ask.js";
import { state, go, address, ms, windowFlags, scopeFlags, stackFlags } from "./state.js";
import { gridOf, columnsOf } from "./grid.js";
import { graphOf } from "./calls.js";
import { lanesOf } from "./lanes.js";
import { pointsOf } from "./points.js";

// flagsOf returns the flags of the address that a question has.
export function flagsOf(page, question, more = {}) {
  const q = page.questions.find(q => q.name === question), flags = {};
  for (const [name, value] of Object.entries({ ...state.flags, ...more })) {
    if (value !== "" && value != null && (name === "file" || q.flags.some(f => f.name === name))) flags[name] = value;
  }
  return flags;
}

export const linkTo = (to, ...kids) => h("a", { href: address({ view: to.view, sub: to.sub || "", flags: { ...scoped(), ...to.flags } }), onclick: e => {
  if (e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  go({ flags: cleared(to.flags), view: to.view, sub: to.sub || "" });
} }, ...kids);

const scoped = () => Object.fromEntries(Object.entries(state.flags).filter(([k]) => scopeFlags.includes(k) || stackFlags.includes(k)));

// cleared takes away the flags of single views, and sets those that are given.
export const cleared = (flags = {}) => ({ ...Object.fromEntries(Object.keys(state.flags).filter(k => !scopeFlags.includes(k) && !stackFlags.includes(k)).map(k => [k, null])), ...flags });

// needsOf says what the trace lacks for an answer, and how to record it.
export function needsOf(doc) {
  const absent = (doc?.needs || []).filter(n => n.state === "absent" || n.state === "unknown");
  const texts = [...new Set(doc?.warnings || [])];
  const record = (doc?.next || []).filter(n => n.why.startsWith("record"));
  if (!texts.length && !(absent.length && record.length)) return null;
  return h("div", { class: "note", role: "note" }, texts.map(t => h("p", {}, t)), record.map(n => h("code", {}, n.command)));
}

// part shows an answer in its place, once it is there.
function part(title, answer, make) {
  const box = h("div", {}, h("p", { class: "soft" }, "Reading the trace …"));
  answer.then(v => box.replaceChildren(...[make(v)].flat(9).filter(Boolean)), e => { if (e.name !== "AbortError") box.replaceChildren(h("p", { class: "note", role: "alert" }, e.message)); });
  return h("section", {}, h("h2", {}, title), box);
}

export async function overview(page, signal) {
  const flags = flagsOf(page, "info"), facts = ask("info", flags, signal).catch(e => { if (e.name === "AbortError") throw e; return { rows: [] }; });
  await facts; // of the begin and the end of a large trace, which takes no pass
  return {
    question: "report",
    root: [
      part("What stands out", page.lanes.then(() => ask("report", flagsOf(page, "report"), signal)), report => report.findings?.length ? h("ul", { class: "findings" }, report.findings.map(f => h("li", { class: "sev-" + f.severity }, h("span", { class: "severity" }, f.severity), linkTo(targetOf(page, f), h("bdi", {}, f.text)), f.process && f.pid >= 0 ? h("span", { class: "soft" }, f.process + " " + f.pid) : null)))
        : h("p", { class: "soft" }, "Nothing stands out. The lanes below show what there is.")),
      lanesPart(page),
      part("The trace", facts, v => v.rows.map(r => factsOf(r))),
    ],
    take: () => document.querySelector(".findings a")?.focus(),
  };
}

// lanesPart shows the lanes, those so far while the trace is read.
function lanesPart(page) {
  const box = h("div", {}, h("p", { class: "soft" }, "Reading the trace …"));
  const draw = page.drawLanes = () => box.replaceChildren(page.timeline ? lanesOf(page.timeline, page.timeline.lanes, pageWindow(page), w => go({ flags: windowFlags(...(w || [null, null])) })) : h("p", { class: "soft" }, page.timelineFailed || "The trace has nothing that lanes show."));
  if (page.timeline) draw();
  page.lanes.then(draw);
  return h("section", {}, h("h2", {}, "What happened when"), box);
}

// targetOf returns where a finding leads: to the question that it is part of.
function targetOf(page, f) {
  const name = page.questions.some(q => q.name === f.part) ? f.part : "report";
  const flags = f.pid > 0 ? { process: String(f.pid) } : {};
  const figure = name => f.figures?.find(x => x.name === name)?.value, [from, to] = [figure("firstMs"), figure("lastMs")];
  if (from != null) Object.assign(flags, windowFlags(Math.max(from - 1, 0), Math.max(to ?? from, from) + 1));
  // Who blocked the workers is said by samples, where there are some.
  if (f.id === "threadpool.starved" && page.timeline?.lanes.some(l => l.kind === "threadTime")) return { view: "stacks", sub: "callers", flags: { ...flags, sel: "[waiting]" } };
  return name === "report" ? { view: "stacks", sub: "names", flags } : { ...placeOf(page, name), flags };
}

// placeOf returns where the answer of a question is shown: in a view of its own, or as a table.
export const placeOf = (page, name) => page.ownViews.has(name) ? { view: name, sub: "" } : { view: "answers", sub: name };

function factsOf(row) {
  const simple = Object.entries(row).filter(([, v]) => typeof v !== "object");
  return [
    h("dl", { class: "facts" }, simple.map(([k, v]) => { const { words, unit } = titleOf(k); return [h("dt", {}, words), h("dd", {}, h("bdi", {}, typeof v === "number" ? unit ? amount(v, unit) : number(v) : String(v)))]; })),
    (row.processes || []).length ? h("p", {}, row.processes.slice(0, 20).map(p => h("span", { class: "chip" }, linkTo({ view: state.view, flags: { process: String(p.pid) } }, (p.name || "process") + " " + p.pid), h("span", { class: "soft" }, number(p.events) + " events")))) : null,
  ];
}

export function pageWindow(page) {
  const { from, to } = state.flags;
  const begin = from ? ms(from) : page.timeline?.fromMs, end = to ? ms(to) : page.timeline?.toMs;
  return (from || to) && begin != null && end != null ? [begin, end] : null;
}

const stackSubs = [["names", "Names"], ["tree", "Call tree"], ["callers", "Callers and callees"], ["flame", "Flame"], ["lines", "Source lines"]];

export async function stacks(page, signal) {
  const sub = stackSubs.some(([s]) => s === state.sub) ? state.sub : "names";
  const subs = h("div", { class: "subs" }, stackSubs.map(([s, title]) => { const a = linkTo({ view: "stacks", sub: s, flags: { sel: state.flags.sel } }, title); if (s === sub) a.setAttribute("aria-current", "true"); return a; }));
  const shown = await { names, tree: callTree, flame, callers, lines }[sub](page, signal);
  return { ...shown, root: [subs, shown.root] };
}

// weightOf returns how a call is weighed: the last of the values, as the commands do.
function weightOf(doc) {
  const last = doc.types.length - 1, unit = doc.types[last].unit;
  const per = { nanoseconds: 1e6, bytes: 1e6 }[unit] || 1;
  return { weight: v => v[last] / per, unit: { nanoseconds: "ms", bytes: "MB" }[unit] || unit, total: doc.totals[last] / per, count: doc.totals[0] };
}

const stackColumns = doc => {
  const unit = weightOf(doc).unit, key = doc.rows.length ? Object.keys(doc.rows[0]).filter(k => /^(self|total)(?!Percent)[A-Z]|^(self|total)$/.test(k) && typeof doc.rows[0][k] === "number") : [];
  const self = key.find(k => k.startsWith("self")), total = key.find(k => k.startsWith("total"));
  return { self, total, unit };
};

function sumOf(doc) {
  const { total, unit, count } = weightOf(doc);
  return amount(total, unit) + (unit === "count" ? "" : " in " + number(count) + (count === 1 ? " sample" : " samples")) + (doc.namedPercent == null ? "" : ", " + number(Number(doc.namedPercent.toPrecision(3))) + " % with names");
}

async function names(page, signal) {
  const doc = await ask("top", flagsOf(page, "top"), signal), { self, total, unit } = stackColumns(doc);
  const rows = doc.rows;
  const grid = gridOf({
    label: "methods", rows, sort: null, apart: r => r.method === "[waiting]", find: state.flags.find || "",
    columns: [
      { key: "method", title: "method", name: true }, { key: self, title: "self", unit, bar: true, about: "exclusive: of the method itself" }, { key: "selfPercent", title: "self", unit: "%" },
      { key: total, title: "total", unit, bar: true, about: "inclusive: with all that it calls" }, { key: "totalPercent", title: "total", unit: "%" }, { key: "count", title: "samples" },
    ].filter(c => c.key && rows.length && c.key in rows[0]),
    pick: r => page.detail(methodDetail(r)), open: r => go({ sub: "callers", flags: { sel: r.full } }),
  });
  return { question: "top", sum: sumOf(doc), root: [needsOf(doc), doc.facts?.length ? h("p", { class: "soft" }, doc.facts.join(" · ")) : null, grid], take: grid.take, search: grid.search };
}

// quoted writes a name as a pattern that only it matches.
export const quoted = name => "@^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";

export function methodDetail(r) {
  const add = (flag, pattern) => go({ flags: { [flag]: [state.flags[flag], pattern].filter(Boolean).join(";"), sel: null } });
  const module = r.module || /^(.*?)!/.exec(r.full)?.[1];
  return {
    title: r.method, text: r.full !== r.method ? r.full : "", pairs: Object.entries(r).filter(([k, v]) => typeof v === "number").map(([k, v]) => { const { words, unit } = titleOf(k); return [words + (unit === "%" ? " share" : ""), unit === "%" ? number(Number(v.toPrecision(3))) + " %" : amount(v, unit)]; }),
    acts: [
      ["Callers and callees", "c", () => go({ view: "stacks", sub: "callers", flags: { sel: r.full } })], ["Only", "o", () => add("include", plain(r.method))], ["Without", "x", () => add("exclude", plain(r.method))],
      ["Fold", "d", () => add("fold", plain(r.method))], module ? ["Group module", "g", () => go({ flags: { group: module + "!->module " + module + (state.flags.group ? ";" + state.flags.group : "") } })] : null,
    ].filter(Boolean),
  };
}

// plain writes a method as a pattern of PerfView's language.
const plain = name => name.includes(";") || name.includes("*") ? quoted(name) : "^" + name.replace(/\(.*$/, "") + "(";

async function callTree(page, signal) {
  const doc = await ask("tree", flagsOf(page, "tree", { min: state.flags.min || "0.1" }), signal), { self, total, unit } = stackColumns(doc);
  const grid = gridOf({
    label: "call tree", rows: doc.rows, find: state.flags.find || "",
    columns: [{ key: "method", title: "method", name: true, depth: "depth" }, { key: total, title: "total", unit, bar: true }, { key: "totalPercent", title: "total", unit: "%" }, { key: self, title: "self", unit, bar: true }, { key: "count", title: "samples" }]
      .filter(c => c.key && doc.rows.length && c.key in doc.rows[0]),
    pick: r => page.detail(methodDetail(r)), open: r => go({ sub: "callers", flags: { sel: r.full } }),
  });
  return { question: "tree", sum: sumOf(doc), root: [needsOf(doc), waits(doc), grid], take: grid.take, search: grid.search };
}

// least is the share below which calls of a large trace are left out: they are narrower than can be drawn.
const least = page => page.files.reduce((n, f) => n + f.size, 0) > 64e6 ? "0.02" : "0";

// waits says how much of a figure threads waited in, where that is most of it, and takes it away.
function waits(doc) {
  const { weight, total } = weightOf(doc), sum = doc.rows.reduce((n, r) => r.method === "[waiting]" ? n + weight(r.self) : n, 0);
  return sum * 2 > total ? h("p", { class: "soft" }, number(Math.round(sum / total * 100)) + " % of it waits. ", h("button", { type: "button", onclick: () => go({ flags: { exclude: [state.flags.exclude, quoted("[waiting]")].filter(Boolean).join(";") } }) }, "Hide")) : null;
}

async function flame(page, signal) {
  const min = least(page), doc = await ask("tree", flagsOf(page, "tree", { min }), signal), { weight, unit } = weightOf(doc);
  const graph = graphOf({ rows: doc.rows, weight, unit, pick: c => page.detail(callDetail(c, unit)), open: c => go({ sub: "callers", flags: { sel: c.full } }) });
  const few = doc.totals[0] < 100 ? h("p", { class: "soft" }, "Of fewer than 100 samples the shape is chance.") : null;
  return { question: "tree", more: { min }, sum: sumOf(doc), root: [needsOf(doc), few, waits(doc), graph], take: graph.take, search: graph.search };
}

const callDetail = (c, unit) => methodDetail({ method: c.name, full: c.full || c.name, ["total" + (unit === "ms" ? "Ms" : unit === "MB" ? "MB" : "")]: c.total, ["self" + (unit === "ms" ? "Ms" : unit === "MB" ? "MB" : "")]: c.self });

async function callers(page, signal) {
  const sel = state.flags.sel;
  if (!sel) return { question: "tree", root: h("p", { class: "note" }, "Choose a method in Names, Call tree or Flame first: Enter, or C, leads here.") };
  const pattern = quoted(sel), min = least(page);
  const [up, down] = await Promise.all([ask("tree", flagsOf(page, "tree", { min, callers: pattern }), signal), ask("tree", flagsOf(page, "tree", { min, root: pattern }), signal)]);
  const graph = (doc, above) => { const { weight, unit } = weightOf(doc); return graphOf({ rows: doc.rows, weight, unit, up: above, label: above ? "callers" : "callees", pick: c => page.detail(callDetail(c, unit)), open: c => c.full && go({ flags: { sel: c.full } }) }); };
  const [above, below] = [graph(up, true), graph(down, false)];
  return { question: "tree", more: { callers: pattern }, sum: sumOf(down), root: [h("h2", {}, h("bdi", {}, sel)), h("h3", {}, "Who calls it"), above, h("h3", {}, "What it calls"), below], take: below.take, search: below.search };
}

async function lines(page, signal) {
  if (state.flags.source) return source(page, signal);
  const shown = await table(page, signal, "top", { by: "line" });
  if (!shown.take) shown.root.push(h("p", { class: "soft" }, "No line is known. Lines are of PDBs: etw view --symbols FOLDER, or --symbol-path PATH, says where they are."));
  return shown;
}

// source shows a file with the weights of its lines, from the heaviest on.
async function source(page, signal) {
  const more = { by: "line" }, { head, rows } = rowsOf(await ask("top", { ...flagsOf(page, "top", more), format: "csv" }, signal));
  const here = head.find(k => /^here/.test(k)), heaviest = rows.reduce((a, b) => Number(b[here]) > Number(a?.[here] || 0) ? b : a, null);
  const columns = ["line", ...head.filter(k => /^(self|here|total)/.test(k)), "text"].map(k => ({ key: k, title: titleOf(k).words, unit: titleOf(k).unit, bar: k === here, code: k === "text", text: k === "text", wide: k === "text", width: k === "line" ? 64 : 0, sparse: true }));
  await page.lanes; // they take room from the table, which scrolls to what is chosen
  const grid = gridOf({ label: "source", rows, columns, sort: null, find: state.flags.find || "" });
  return { question: "top", more, root: [h("h2", {}, h("bdi", {}, state.flags.source)), grid], begin: () => heaviest && grid.selectWhere(r => r === heaviest), take: grid.take, search: grid.search };
}

// answers shows the table of any question.
export async function answers(page, signal) {
  const of = page.answers.map(q => q.name), name = of.includes(state.sub) ? state.sub : of[0];
  const groups = h("div", { class: "subs" }, page.answers.map(q => { const a = linkTo({ view: "answers", sub: q.name }, q.name); a.title = q.about; if (q.name === name) a.setAttribute("aria-current", "true"); return a; }));
  const shown = await table(page, signal, name);
  return { ...shown, root: [groups, shown.root] };
}

async function table(page, signal, name, more = {}) {
  const q = page.questions.find(q => q.name === name), flags = flagsOf(page, name, more);
  const doc = await ask(name, flags, signal);
  const { head, rows } = rowsOf(await ask(name, { ...flags, format: "csv" }, signal).catch(e => { if (e.name === "AbortError") throw e; return ""; }));
  const by = q.flags.find(f => f.name === "by" && f.oneOf?.length);
  const choose = by ? h("label", { class: "soft" }, "rows: ", h("select", { "aria-label": "what the rows are", onchange: e => go({ flags: { by: e.target.value } }) }, by.oneOf.map(v => h("option", { value: v, selected: v === (state.flags.by || by.oneOf[0]) }, v)))) : null;
  const sides = q.flags.filter(f => f.side), turned = sides.find(f => state.flags[f.name]);
  const turn = to => go({ flags: { ...Object.fromEntries(sides.map(f => [f.name, null])), by: null, ...(to && { [to]: "true" }) } });
  const side = sides.length ? h("label", { class: "soft" }, "of: ", h("select", { "aria-label": "what it is of", onchange: e => turn(e.target.value) }, ["", ...sides.map(f => f.name)].map(v => h("option", { value: v, selected: v === (turned?.name || "") }, v || "all")))) : null;
  await page.lanes;
  const figure = figureOf(page, name, rows, r => grid.selectWhere(x => x === r));
  const grid = rows.length ? gridOf({ label: name, rows, columns: columnsOf(head, rows), sort: null, find: state.flags.find || "", pick: r => { figure?.mark(r); pickRow(page, name, r); }, open: r => openRow(r) }) : null;
  return { question: name, more, root: [h("div", { class: "subs" }, h("h2", {}, q.about), side, turned || more.by ? null : choose), needsOf(doc), summaryOf(doc), figure, grid], take: grid?.take, search: grid?.search };
}

// measures are the columns that a figure over time shows, the first that there is.
const measures = ["workers", "pauseMs", "durationMs", "waitMs", "value"];

// figureOf draws rows that have a time and something to measure.
function figureOf(page, name, rows, pick) {
  const key = measures.find(k => rows[0] && rows[0][k] !== undefined);
  if (!key || !rows.some(r => Number.isFinite(startOf(r)) && Number(r[key]) > 0)) return null;
  const { words, unit } = titleOf(key);
  return pointsOf({
    label: name + ", " + words, rows, at: startOf, value: r => r[key] === "" ? NaN : Number(r[key]), hue: () => "cpu", unit, pick, open: openRow,
    range: pageWindow(page) || (page.timeline ? [page.timeline.fromMs, page.timeline.toMs] : null), say: r => [r.name || r.method || r.reason || r.type || r.counter || "", amount(r[key], unit), "at " + amount(startOf(r), "ms")].filter(Boolean).join(", "),
  });
}

// rowsOf returns the columns of a table of CSV, and its rows by them.
export function rowsOf(text) {
  const cells = parseCSV(text), head = cells.shift() || [];
  return { head, rows: cells.map(r => Object.fromEntries(head.map((k, i) => [k, r[i]]))) };
}

// summaryOf shows the figures that stand at the top of an answer.
export function summaryOf(doc) {
  const skip = new Set(["schema", "lost", "events", "fromMs", "toMs", "pid", "clrInstance"]);
  const of = (doc.runtimes || doc.processes || [])[0];
  const told = !(doc.needs || []).some(n => n.state !== "present"); // else 0 is no figure
  const simple = Object.entries({ ...doc, ...((doc.runtimes || doc.processes || []).length === 1 ? of : {}) }).filter(([k, v]) => typeof v === "number" && !skip.has(k) && (v || told) || typeof v === "string" && k !== "kind");
  if (!simple.length) return null;
  const twice = (k, words) => simple.some(([x]) => x !== k && titleOf(x).words === words);
  return h("dl", { class: "sums" }, simple.slice(0, 12).map(([k, v]) => { const { words, unit } = titleOf(k); return h("div", {}, h("dt", {}, unit === "ms" && twice(k, words) ? words + " time" : words), h("dd", {}, typeof v === "number" ? amount(v, unit) : v)); }));
}

// pickRow shows a row; of a request also where its time went.
export async function pickRow(page, name, r) {
  const d = rowDetail(page, name, r);
  page.detail(d);
  if (name !== "requests" || !(r.id || r.endpoint)) return;
  const mine = page.picked = {};
  const doc = await ask(name, { ...flagsOf(page, name), why: r.id || r.endpoint, by: r.id ? "path" : "cause", format: "csv" }).catch(e => e);
  if (page.picked !== mine || doc instanceof Error) return;
  page.detail({ ...d, more: waterfall(rowsOf(doc).rows) });
}

// waterfall draws the parts of a request, one below the other, where they lie in its time.
function waterfall(rows) {
  const length = r => Number(r.durationMs ?? r.totalMs ?? r.ms), at = r => Number(r.startMs ?? 0);
  const parts = rows.filter(r => length(r) > 0);
  if (!parts.length) return null;
  const begin = Math.min(...parts.map(at)), end = Math.max(...parts.map(r => at(r) + length(r)));
  return h("div", {}, h("h3", {}, "Where its time went"), parts.slice(0, 200).map(r => {
    const bar = h("i", {}), kind = r.cause || r.kind || r.part || "";
    bar.style.marginLeft = (at(r) - begin) / (end - begin) * 100 + "%";
    bar.style.width = Math.max(length(r) / (end - begin) * 100, 0.5) + "%";
    bar.style.background = "var(--" + hueOfCause(kind) + ")";
    return h("div", { class: "part" }, h("span", {}, h("bdi", {}, [kind, r.method || r.of || r.name || ""].filter(Boolean).join(" "))), h("span", { class: "soft" }, amount(length(r), "ms")), bar);
  }));
}

const startOf = r => Number(r.startMs ?? r.atMs ?? r.firstMs ?? r.ms ?? NaN);
const lengthOf = r => Number(r.durationMs ?? r.pauseMs ?? r.inclusiveMs ?? (r.endMs != null ? r.endMs - r.startMs : NaN));

function rowWindow(r) {
  const at = startOf(r), long = lengthOf(r);
  if (!Number.isFinite(at) || r.startMs === "") return null;
  return Number.isFinite(long) && long > 0 ? [at, at + long] : [Math.max(at - 5, 0), at + 5];
}

export const openRow = r => { const w = rowWindow(r); if (r.method) go({ view: "stacks", sub: "callers", flags: cleared({ sel: r.full || r.method }) }); else if (w) go({ view: "stacks", sub: "flame", flags: cleared(windowFlags(...w)) }); };

// rowDetail says all of a row, and where it leads.
export function rowDetail(page, name, r) {
  const w = rowWindow(r), acts = [];
  if (w) {
    acts.push(["Window = this", "w", () => go({ flags: windowFlags(...w) })]);
    acts.push(["Stacks in this", "s", () => go({ view: "stacks", sub: "flame", flags: cleared({ ...windowFlags(...w), tid: r.tid || null }) })]);
    acts.push(["Events of this", "e", () => go({ view: "events", flags: cleared({ ...windowFlags(...w), tid: r.tid || null }) })]);
  }
  if (r.tid) acts.push(["Only this thread", "t", () => go({ flags: { tid: r.tid } })]);
  if (r.pid && r.pid > 0) acts.push(["Only this process", "p", () => go({ flags: { process: r.pid } })]);
  if (name === "top" && r.file) acts.push(["Its source", "u", () => go({ flags: { source: r.file, find: null } })]);
  if (r.method) acts.push(["Callers and callees", "c", () => openRow(r)]);
  return { title: r.method || r.endpoint || r.type || r.name || r.task || r.path || r.event || name, bar: causesOf(r), pairs: Object.entries(r).filter(([, v]) => v !== "").map(([k, v]) => { const { words, unit } = titleOf(k); return [words, Number.isNaN(Number(v)) ? v : unit && !/^(pid|tid|id)$/.test(k) ? amount(v, unit) : v]; }), acts };
}

// hueOfCause returns the colour of a cause, as requests name it.
export const hueOfCause = kind => causeHues[kind + "Ms"] || "await";

const causeHues = { runningMs: "cpu", awaitingMs: "await", queuedMs: "queue", blockedMs: "blocked", lockMs: "lock", gcMs: "gc", jitMs: "jit", othersMs: "other", readyMs: "queue" };

// causesOf draws the parts of a request's time.
export function causesOf(r) {
  const parts = Object.entries(causeHues).filter(([k]) => Number(r[k]) > 0), sum = parts.reduce((n, [k]) => n + Number(r[k]), 0);
  if (parts.length < 2) return null;
  return h("div", { class: "causes", role: "img", "aria-label": parts.map(([k]) => titleOf(k).words + " " + amount(r[k], "ms")).join(", ") }, parts.map(([k, hue]) => { const i = h("i", { title: titleOf(k).words + " " + amount(r[k], "ms") }); i.style.width = Number(r[k]) / sum * 100 + "%"; i.style.background = "var(--" + hue + ")"; return i; }));
}

const pageOf = 500;

export async function events(page, signal) {
  const after = state.flags.after || "", flags = { ...flagsOf(page, "dump", { limit: String(pageOf) }), ...(after ? { after } : {}) };
  const found = await ask("events", flags, signal);
  const rows = found.rows.map(r => ({ ...r, text: Object.entries(r.fields || {}).map(([k, v]) => k + "=" + (typeof v === "object" ? JSON.stringify(v) : v)).join(" ") }));
  const field = (name, title, placeholder) => h("label", { class: "soft" }, title + " ", h("input", { value: state.flags[name] || "", placeholder, "aria-label": title, onchange: e => go({ flags: { [name]: e.target.value, after: null } }) }));
  let looked = null;
  const pick = r => {
    looked?.abort();
    looked = new AbortController();
    signal.addEventListener("abort", () => looked.abort());
    showEvent(page, r, looked.signal);
  };
  const grid = gridOf({
    label: "events", rows, sort: null,
    columns: [{ key: "ms", title: "time", unit: "ms", width: 120, time: true }, { key: "event", title: "event", text: true, width: 200 }, { key: "pid", title: "pid", text: true, width: 76 }, { key: "tid", title: "tid", text: true, width: 76 }, { key: "text", title: "fields", text: true, wide: true }],
    pick, open: r => go({ flags: windowFlags(Math.max(r.ms - 5, 0), r.ms + 5) }),
  });
  const step = (text, after) => h("button", { type: "button", onclick: () => go({ flags: { after } }) }, text);
  const steps = [after ? step("First events", null) : null, found.next ? step("Next " + number(pageOf), found.next) : null];
  const kinds = h("details", {}, h("summary", {}, "Kinds of events"), h("p", { class: "soft" }, "Reading the trace …"));
  const shown = rows.length ? number(rows.length) + " shown from " + time(rows[0].ms) + " to " + time(rows.at(-1).ms) + " ms" : "no events";
  return {
    question: "dump", more: { limit: String(pageOf), ...(after ? { from: after.split("_")[0] + "ms" } : {}) }, sum: shown,
    root: [h("div", { class: "subs" }, field("event", "event", "GC*"), field("provider", "provider", "clr"), field("where", "where", "Depth >= 2"), placeIn(page, rows), ...steps), grid, kinds],
    begin: () => kindsOf(page, kinds, shown, signal), take: grid.take, search: grid.search,
  };
}

// placeIn leads to the events of any time: it is how far in the trace, or in the window, the first row is.
function placeIn(page, rows) {
  const input = h("input", { type: "range", min: "0", max: "100", step: "0.1", disabled: true, "aria-label": "place in time" });
  page.lanes.then(() => {
    const [from, to] = pageWindow(page) || (page.timeline ? [page.timeline.fromMs, page.timeline.toMs] : [0, 0]);
    if (!(to > from)) return;
    input.disabled = false;
    input.value = (rows.length ? (rows[0].ms - from) / (to - from) * 100 : 0).toFixed(1);
    input.addEventListener("change", () => go({ flags: { after: input.value > 0 ? (from + (to - from) * input.value / 100).toFixed(3) + "_0" : null } }));
  });
  return h("label", { class: "soft" }, "place ", input);
}

// kindsOf counts the events of each kind, which takes a pass over the trace.
async function kindsOf(page, box, shown, signal) {
  const doc = await ask("stat", flagsOf(page, "stat"), signal).catch(e => e);
  if (signal.aborted) return;
  if (doc instanceof Error) return box.replaceChildren(h("summary", {}, "Kinds of events"), h("p", { class: "note" }, doc.message));
  page.sum(number(doc.rows.reduce((n, r) => n + r.count, 0)) + " events, " + shown);
  box.replaceChildren(h("summary", {}, number(doc.rows.length) + " kinds of events"), h("p", {}, doc.rows.slice(0, 60).map(k => h("span", { class: "chip" }, linkTo({ view: "events", flags: { event: k.event } }, h("bdi", {}, k.event)), h("span", { class: "soft" }, number(k.count))))));
}

// showEvent shows all of an event, and then its call stack, for which the names of methods must be found.
async function showEvent(page, r, signal) {
  const detail = eventDetail(r), stack = h("div", {}, h("p", { class: "soft" }, "Reading the call stack …"));
  page.detail({ ...detail, more: h("div", {}, h("h3", {}, "Call stack"), stack) });
  await new Promise(done => setTimeout(done, 150)); // whoever walks on does not wait for it
  if (signal.aborted) return;
  const at = { ...flagsOf(page, "dump"), from: r.ms + "ms", to: r.ms + 1e-6 + "ms", tid: String(r.tid), stacks: "true", limit: "200" };
  const found = await ask("events", at, signal).catch(e => e);
  if (signal.aborted) return;
  const alike = x => x.event === r.event && x.ms === r.ms && JSON.stringify(x.fields) === JSON.stringify(r.fields);
  const frames = found instanceof Error ? null : found.rows.find(alike)?.frames;
  stack.replaceChildren(...found instanceof Error ? [h("p", { class: "note" }, found.message)] : frames?.length ? [h("ol", { class: "stack" }, frames.slice(0, 200).map(f => h("li", {}, h("bdi", {}, f))))] : [h("p", { class: "soft" }, "It has none.")]);
}

function eventDetail(r) {
  const pairs = [["time", r.time], ["provider", r.provider], ["id", r.id + (r.version ? " version " + r.version : "")], ["process", [r.process, r.pid].filter(v => v != null && v !== "").join(" ")], ["thread", [r.thread, r.tid].filter(v => v != null && v !== "").join(" ")], ...Object.entries(r.fields || {}).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)])];
  return {
    title: r.event, pairs, acts: [
      ["Events around ± 5 ms", "e", () => go({ flags: { ...windowFlags(Math.max(r.ms - 5, 0), r.ms + 5), event: null, provider: null, where: null, after: null } })],
      ["Stacks around ± 5 ms", "s", () => go({ view: "stacks", sub: "flame", flags: cleared(windowFlags(Math.max(r.ms - 5, 0), r.ms + 5)) })],
      ["Only this event", "o", () => go({ flags: { event: r.event, after: null } })], ["Only this thread", "t", () => go({ flags: { tid: String(r.tid), after: null } })],
    ],
  };
}

export const views = { overview, stacks, answers, events };

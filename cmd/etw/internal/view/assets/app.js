// The page around the views: what is always there.
import { h, ask, amount, forget, onTheme, onWaiting, themeButton } from "./ask.js";
import { state, go, onChange, windowFlags } from "./state.js";
import { views as tables, flagsOf, linkTo, pageWindow, placeOf, cleared } from "./views.js";
import { lanesOf } from "./lanes.js";
import { requests } from "./requests.js";
import { gc } from "./gc.js";
import { compare } from "./compare.js";
import { heap } from "./heap.js";
import { counters } from "./counters.js";
import { saving } from "./save.js";

const views = { ...tables, requests, gc, heap, counters, compare }, ownView = new Set(Object.keys(views));
const page = { ownViews: ownView, questions: [], answers: [], timeline: null, lanes: null, detail, sum: text => { shown.sum = text; drawScope(); } };
const tabs = [["overview", "Overview"], ["stacks", "Stacks"], ["requests", "Requests"], ["gc", "GC"], ["heap", "Heap"], ["exceptions", "Exceptions"], ["threads", "Threads"], ["answers", "All answers"], ["events", "Events"], ["compare", "Compare"]];

const nav = h("nav", { "aria-label": "views" }), title = h("h1", {}), length = h("span", { class: "soft" });
const scope = h("section", { class: "scope", "aria-label": "what is shown" }), filters = h("section", { class: "filters", "aria-label": "filters of stacks", hidden: true });
const working = h("div", { class: "working" }), progress = h("span", { class: "soft" }), strip = h("section", { class: "strip", "aria-label": "window of time" });
const body = h("div", { class: "view", tabindex: "-1" }), pane = h("aside", { "aria-label": "details" });
const command = h("code", { title: "the command that gives the same" }), losses = h("span", { class: "loss" }), status = h("span", { class: "soft", role: "status" });
const copy = h("button", { type: "button", class: "quiet", onclick: copyCommand, title: "Y" }, "Copy command");
const save = saving(() => page.files[0].name.replace(/\.(gz|nettrace|etl|zst)$/g, ""), () => shown.question && !shown.line ? { question: shown.question, flags: flagsOf(page, shown.question, shown.more), samples: state.view === "stacks" ? samplesFlags() : null } : {});
const samplesFlags = () => Object.fromEntries(Object.entries(state.flags).filter(([k]) => page.export.includes(k)));
const fresh = h("button", { type: "button", hidden: true, onclick: () => { fresh.hidden = true; show(); } }, "Show what has come");
let running = null, shown = {}, acts = [], keyed = false, drawn = ""; // whether it was a key that led here, and which address is drawn
let asking = 0; // since when an answer is waited for

onTheme.add(() => document.querySelectorAll(".tracks, .flamebox, .points").forEach(e => e.redraw()));

// detail shows what is selected, and what can be done with it.
function detail(d) {
  acts = d?.acts || [];
  pane.replaceChildren(...(d ? [
    h("h2", {}, h("bdi", {}, d.title)), d.text ? h("p", { class: "soft" }, h("bdi", {}, d.text)) : null, d.bar,
    h("dl", {}, d.pairs.map(([k, v]) => [h("dt", {}, k), h("dd", {}, h("bdi", {}, String(v)))])),
    d.more, h("div", { class: "acts" }, acts.map(([text, key, act]) => h("button", { type: "button", title: key.toUpperCase(), onclick: act }, text))),
  ] : [h("p", { class: "soft" }, "Select a row or a box: a click, or the arrow keys. Enter goes in.")]).filter(Boolean));
}

// quote writes a word as a shell takes it.
const quote = w => /^[\w@%+=:,./-]+$/.test(w) ? w : "'" + w.replaceAll("'", "'\\''") + "'";

function commandOf() {
  if (shown.line) return ["etw", ...shown.line.map(w => page.files[w]?.name ?? w)].map(quote).join(" ");
  const name = shown.question || "report", words = ["etw", name], options = page.questions.find(q => q.name === name).flags;
  const { file, ...flags } = flagsOf(page, name, shown.more);
  for (const [name, value] of Object.entries(flags)) {
    const isTrace = options.find(o => o.name === name)?.trace;
    for (const v of [value].flat()) words.push("--" + name + (v === "true" ? "" : "=" + (isTrace ? page.files[v]?.name ?? v : v)));
  }
  if (page.questions.find(q => q.name === name).symbols) words.push(...page.symbols || []);
  const files = file == null ? page.files : String(file).split(",").map(i => page.files[i]).filter(Boolean);
  return [...words, ...files.map(f => f.name)].map(quote).join(" ");
}

async function copyCommand() {
  try { await navigator.clipboard.writeText(commandOf()); status.textContent = "copied"; } catch { status.textContent = "the browser does not let this page copy"; }
}

function drawHead() {
  const at = state.view === "answers" && tabs.some(([name]) => name === state.sub) ? state.sub : state.view;
  nav.replaceChildren(...tabs.map(([name, text], i) => {
    const a = linkTo(placeOf(page, name), text);
    if (name === at) a.setAttribute("aria-current", "page");
    if (i < 10) a.title = String((i + 1) % 10);
    return a;
  }));
}

function chip(text, remove, edit) {
  return h("span", { class: "chip" }, edit ? h("button", { type: "button", onclick: edit }, text) : h("span", {}, text), h("button", { type: "button", "aria-label": "remove: " + text, onclick: remove }, "×"));
}

function drawScope() {
  const chips = [], f = state.flags, isStacks = state.view === "stacks" || state.view === "compare" && !state.sub, w = pageWindow(page);
  const span = w ? w.map(t => amount(t, "ms")) : [f.from || "the begin", f.to || "the end"];
  if (f.from || f.to) chips.push(chip(span.join(" to "), () => go({ flags: windowFlags(null, null) })));
  for (const [name, text] of [["process", "process "], ["tid", "thread "], ["activity", "activity "]]) if (f[name]) chips.push(chip(text + f[name], () => go({ flags: { [name]: null } })));
  if (isStacks) for (const [name, text] of [["group", "group "], ["include", "only "], ["exclude", "without "], ["fold", "fold "], ["fold-percent", "fold below % "], ["label", ""]]) if (f[name]) chips.push(chip(text + f[name], () => go({ flags: { [name]: null } }), showFilters));
  if (state.view === "events") for (const name of ["event", "provider", "where"]) if (f[name]) chips.push(chip(name + " " + f[name], () => go({ flags: { [name]: null, after: null } })));
  const of = isStacks ? h("select", { "aria-label": "what is weighed", onchange: e => go({ flags: { of: e.target.value } }) }, page.of.map(o => h("option", { value: o, selected: o === (f.of || page.of[0]) }, o === "cpu" ? "thread time (cpu)" : o))) : null;
  scope.replaceChildren(...[of, chips.length || isStacks ? null : h("span", { class: "soft" }, "all of the trace"), ...chips, page.unnamed ? h("span", { class: "loss bad" }, page.unnamed) : null, isStacks ? h("button", { type: "button", class: "quiet", onclick: showFilters, title: "F" }, "Filters") : null, h("span", { class: "sum", role: "status" }, shown.sum || "")].filter(Boolean));
}

function showFilters() {
  filters.hidden = !filters.hidden;
  drawFilters();
  filters.querySelector("input")?.focus();
}

function drawFilters() {
  if (filters.hidden) return;
  const fields = [["group", "Group"], ["include", "Only"], ["exclude", "Without"], ["fold", "Fold"], ["fold-percent", "Fold below, %"]];
  const inputs = fields.map(([name, text]) => [name, h("input", { value: state.flags[name] || "", spellcheck: "false", list: name === "group" ? "presets" : null, onkeydown: e => { if (e.key === "Enter") apply(); } }), text]);
  const apply = () => go({ flags: Object.fromEntries(inputs.map(([name, input]) => [name, input.value || null])) });
  filters.replaceChildren(...inputs.map(([, input, text]) => h("label", {}, text, input)), h("datalist", { id: "presets" }, page.presets.map(p => h("option", { value: "[" + p + "]" }))),
    h("div", {}, h("button", { type: "button", onclick: apply }, "Apply"), " ", h("button", { type: "button", class: "quiet", onclick: () => go({ flags: Object.fromEntries(fields.map(([n]) => [n, null])) }) }, "Clear")));
}

let missed = false, drawnLanes = null; // while somebody drags in the strip, it stays as it is
strip.addEventListener("pointerup", () => { if (missed) setTimeout(drawStrip); });

function drawStrip() {
  if (missed = strip.matches(":active")) return;
  const lane = page.timeline?.lanes.find(l => /cpu|managed|running/.test(l.kind)) || page.timeline?.lanes[0];
  strip.hidden = state.view === "overview" || !lane;
  if (strip.hidden) return;
  if (drawnLanes?.lane === lane) return drawnLanes.lanes.choose(pageWindow(page));
  drawnLanes = { lane, lanes: lanesOf(page.timeline, [lane], pageWindow(page), w => go({ flags: windowFlags(...(w || [null, null])) }), 44) };
  strip.replaceChildren(drawnLanes.lanes);
}

// show draws the view of the address. Another one on the way is not waited for.
async function show() {
  if (!views[state.view]) return go({ ...placeOf(page, state.view), replace: true }); // /threads is /answers/threads
  running?.abort();
  const mine = running = new AbortController();
  const slow = setTimeout(() => body.classList.toggle("old", Boolean(shown.root)), 300);
  const asked = views[state.view](page, mine.signal);
  asked.catch(() => {});
  asking = Date.now();
  drawHead(); drawScope(); drawFilters(); drawStrip();
  try {
    const next = await asked;
    if (mine.signal.aborted) return;
    shown = next;
    body.replaceChildren(...[next.root].flat(9).filter(Boolean));
    detail(null);
    drawScope();
    next.begin?.();
    if (keyed && drawn !== location.pathname) next.take?.();
    drawn = location.pathname;
    save.offer();
  } catch (e) {
    if (e.name === "AbortError" || mine.signal.aborted) return;
    shown = {};
    body.replaceChildren(h("p", { class: "note", role: "alert" }, e.message), h("p", {}, h("button", { type: "button", onclick: show }, "Try again")));
  } finally {
    clearTimeout(slow);
    if (running === mine) { body.classList.remove("old"); asking = 0; }
  }
  command.textContent = shown.root ? commandOf() : "";
}

const help = h("dialog", { "aria-label": "keys" }, h("h2", {}, "Keys"), h("dl", {}, [
  ["1 to 9, 0", "views, in their order"], ["N T C L S", "names, call tree, callers, flame, source lines"], ["/", "search"], ["F", "filters"], ["arrows, Enter", "select, go in"], ["O X D G", "only, without, fold, group the module of a method"],
  ["W", "window = what is selected"], ["E", "events around what is selected"], ["← → + −", "in lanes: move and size the window; Shift moves its end"], ["Y", "copy the command"], ["Esc", "take the window, then the selection away"], ["?", "this"],
].map(([k, t]) => [h("dt", {}, k), h("dd", { class: "soft" }, t)])), h("form", { method: "dialog" }, h("button", {}, "Close")));

addEventListener("pointerdown", () => { keyed = false; }, true);
addEventListener("keydown", () => { keyed = true; }, true);
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || help.open) {
    if (e.key === "Escape" && e.target.tagName === "INPUT") body.focus();
    return;
  }
  const key = e.key.toLowerCase();
  const act = acts.find(([, k]) => k === key);
  const sub = { n: "names", t: "tree", l: "flame", s: "lines" }[key];
  if (e.key === "?") help.showModal();
  else if (e.key === "/") { e.preventDefault(); shown.search?.(); }
  else if (e.key === "Escape") { if (pane.querySelector("dl")) detail(null); else if (state.flags.from || state.flags.to) go({ flags: windowFlags(null, null) }); }
  else if (/^\d$/.test(key) && tabs[(Number(key) || 10) - 1]) { const [name] = tabs[(Number(key) || 10) - 1]; go({ flags: cleared(), ...placeOf(page, name) }); }
  else if (act) act[2]();
  else if (key === "y") copyCommand();
  else if (key === "f" && (state.view === "stacks" || state.view === "compare")) { e.preventDefault(); showFilters(); }
  else if (state.view === "stacks" && sub) go({ sub, flags: { source: null } });
  else if (key === "arrowdown" && document.activeElement === document.body) { e.preventDefault(); shown.take?.(); }
});

// waits shows how far the pass over the trace is, for as long as one is waited for.
let watching = 0;
onWaiting(on => {
  clearInterval(watching);
  if (on) watching = setInterval(showProgress, 400);
  else { working.classList.remove("on"); progress.textContent = ""; }
});

async function showProgress() {
  working.classList.add("on");
  if (shown.root && Date.now() - asking < 1000) return; // who waits for a window is not to wait for lanes, too
  const p = await fetch("api/progress").then(r => r.json()).catch(() => null);
  if (p?.soFar?.lanes && !page.timeline?.whole) showLanes(p.soFar);
  if (p && !p.done && working.classList.contains("on")) progress.textContent = p.read == null ? amount(p.seconds * 1000, "ms") : amount(p.read / 1e6, "MB") + " of " + amount(p.size / 1e6, "MB") + " read";
}

// showLanes shows the lanes so far: what is not read yet is blank.
function showLanes(t) {
  const end = Math.max(t.toMs, page.lastMs || 0), rest = Math.min(Math.floor((end - t.toMs) / t.bucketMs), 40000);
  if (!t.lanes.length || !(t.bucketMs > 0)) return;
  t.lanes.forEach(l => { l.values = l.values.concat(Array(rest).fill(null)); });
  page.timeline = { ...t, toMs: end };
  page.drawLanes?.();
  drawStrip();
}

// readLanes asks for the lanes. The page has its views before it knows.
async function readLanes() {
  const flags = Object.fromEntries(Object.entries(state.flags).filter(([k]) => k === "file"));
  const t = await ask("timeline", { ...flags, buckets: "600" }).catch(e => { page.timelineFailed = e.message; return null; });
  page.timeline = t?.lanes.length ? { ...t, whole: true } : null;
  if (!t) return;
  const names = new Map(t.rows.map(r => [r.pid, r.process])), of = t.trace;
  t.lanes.forEach(l => { l.process ||= names.get(l.pid); });
  length.textContent = amount(t.toMs - t.fromMs, "ms");
  if (!of) return;
  if (page.growing) of.truncated = false; // the end is still to come
  const bad = of.lost > 0 || of.lostBuffers > 0 || of.undecodable > 0 || of.truncated || of.damaged;
  losses.textContent = bad ? [of.lost ? of.lost + " events lost" : "", of.lostBuffers ? of.lostBuffers + " buffers lost" : "", of.undecodable ? of.undecodable + " damaged" : "", of.truncated ? "cut off" : "", of.damaged ? "parts could not be read" : ""].filter(Boolean).join(", ") : "nothing lost";
  losses.classList.toggle("bad", bad);
}

// grow looks now and then whether a recording that goes on has more. The overview shows it at once,
// other views when they are asked to: nobody's rows move away.
async function grow() {
  const next = await fetch("api/").then(r => r.json()).catch(() => null);
  if (!next) { status.textContent = "the server has ended"; return; }
  const more = next.files.some((f, i) => f.size !== page.files[i].size) || !next.growing;
  page.growing = next.growing;
  if (page.unnamed !== next.unnamed) { page.unnamed = next.unnamed; drawScope(); }
  if (more && !document.hidden) {
    page.files = next.files;
    forget();
    page.lanes = readLanes();
    await page.lanes;
    drawStrip(); drawScope();
    if (state.view === "overview" && !pane.querySelector("dl")) await show();
    else fresh.hidden = false;
  }
  if (page.growing) setTimeout(grow, 2000);
  else status.textContent = "the recording is over";
}

async function begin() {
  document.body.append(h("header", {}, title, length, h("span", { class: "grow" }), nav, themeButton(), h("button", { type: "button", class: "quiet", onclick: () => help.showModal(), title: "?" }, "Keys")), strip, scope, filters, working, h("main", {}, body, pane), h("footer", {}, command, copy, save, fresh, status, progress, losses), help);
  body.append(h("p", { class: "soft" }, "Reading the trace …"));
  try {
    const about = await ask("");
    Object.assign(page, about);
    if (about.files.length < 2) tabs.splice(tabs.findIndex(([name]) => name === "compare"), 1);
    page.answers = about.questions.filter(q => !["info", "stat", "dump", "top", "tree", "timeline", "report"].includes(q.name));
    document.title = about.files.map(f => f.name).join(", ") + " · etw";
    title.textContent = title.title = about.files.map(f => f.name).join(", ");
    onChange(show);
    page.lanes = ask("info", flagsOf(page, "info")).catch(() => null).then(info => { page.lastMs = info?.rows[0]?.durationMs; return readLanes(); }); // the facts take no pass, and come first
    page.lanes.then(() => { drawStrip(); drawScope(); });
    await show();
    if (page.growing) setTimeout(grow, 2000);
  } catch (e) {
    body.replaceChildren(h("p", { class: "note", role: "alert" }, "The server does not answer: " + e.message));
  }
}

begin();

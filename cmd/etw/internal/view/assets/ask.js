// What all parts of the page use: elements, numbers, and questions to the server.

// h makes an element, and color resolves a colour, as in reports.
export const { h, color, onTheme, themeButton } = page;

const whole = new Intl.NumberFormat("en-US");

// number writes a number with the digits that count: of large ones all before the point.
export function number(v) {
  if (v === "" || v == null || Number.isNaN(Number(v))) return v == null || v === "" ? "–" : String(v);
  v = Number(v);
  const a = Math.abs(v);
  const text = a === 0 ? "0" : a >= 1000 || Number.isInteger(v) ? whole.format(Math.round(v))
    : a >= 100 ? v.toFixed(1) : a >= 0.01 ? String(Number(v.toPrecision(4))) : v.toPrecision(2);
  return text.replace(/^-/, "−");
}

// share writes a percentage, with one digit more where there is little of it.
export function share(v) {
  if (v === "" || v == null || Number.isNaN(Number(v))) return number(v);
  const a = Math.abs(v);
  return Number(v).toFixed(a > 0 && a < 1 ? 2 : 1).replace(/^-/, "−");
}

const fine = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });

// time writes a point in time, in milliseconds, so that points below each other line up.
export const time = v => v === "" || v == null ? "–" : fine.format(v).replace(/^-/, "−");

// amount writes a number with a unit that fits it.
export function amount(v, unit) {
  if (v == null || v === "") return "–";
  if (/^(ms|MB)$/.test(unit)) return page.amount(Number(v), unit).replace(/^-/, "−");
  return number(v) + (unit && unit !== "count" ? " " + unit : "");
}

// titleOf splits the name of a column, such as totalMs, into words and its unit.
export function titleOf(name) {
  const unit = /(?:Ms|MB|Percent|Us|PerSec|Bytes)$/.exec(name)?.[0] || "";
  const words = name.slice(0, name.length - unit.length).replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return { words: words || name, unit: { Ms: "ms", Percent: "%", Us: "µs", PerSec: "per s", Bytes: "bytes" }[unit] || unit };
}

// short splits a method into what tells it apart, and where it is. Dots of type arguments are of these.
export function short(name) {
  const open = name.indexOf("("), head = open < 0 ? name : name.slice(0, open), cuts = [];
  let depth = 0;
  head.split("").forEach((c, i) => {
    if (c === "[" || c === "<") depth++;
    else if (c === "]" || c === ">") depth--;
    else if ((c === "." || c === "!") && !depth) cuts.push(i + 1);
  });
  if (cuts.length < 2) return [name, ""];
  const at = cuts.at(-2);
  return [head.slice(at), head.slice(0, at).replace(/[.!]$/, "")];
}

const kept = new Map();
let room = 8e6; // for the text of answers

// forget drops kept answers: the trace has grown.
export const forget = () => { for (const path of kept.keys()) drop(path); };

function drop(path) {
  room += kept.get(path).size;
  kept.delete(path);
}

let waiting = 0, told = () => {};

// onWaiting has f told whenever the page begins to wait for answers, and when it has them all.
export const onWaiting = f => { told = f; };

// query writes the flags of a question.
export function query(flags) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(flags)) {
    for (const v of [value].flat()) if (v !== "" && v != null && v !== false) q.append(name, v);
  }
  return q.toString();
}

// ask asks the server. An answer is kept, for Back; one that fails is thrown, with its exit code.
export async function ask(question, flags = {}, signal) {
  const path = "api/" + question + (Object.keys(flags).length ? "?" + query(flags) : "");
  if (kept.has(path)) return kept.get(path).v;
  if (++waiting === 1) told(true);
  let r, text;
  try {
    r = await fetch(path, { signal });
    text = await r.text();
  } finally {
    if (--waiting === 0) told(false);
  }
  const json = (r.headers.get("Content-Type") || "").startsWith("application/json");
  const v = json ? JSON.parse(text) : text;
  if (!r.ok) throw Object.assign(new Error(v.error || text), { exit: v.exit });
  if (kept.has(path)) drop(path);
  kept.set(path, { v, size: text.length });
  for (room -= text.length; kept.size > 60 || room < 0 && kept.size > 1;) drop(kept.keys().next().value);
  return v;
}

// parseCSV returns the rows of a text as lists of cells.
export function parseCSV(text) {
  const rows = [];
  let row = [], at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        const end = text.indexOf('"', at);
        if (end < 0) { at = text.length; break; }
        cell += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
    } else {
      const m = /[,\r\n]/g;
      m.lastIndex = at;
      const end = m.exec(text)?.index ?? text.length;
      cell = text.slice(at, end);
      at = end;
    }
    row.push(cell);
    if (text[at] === ",") { at++; if (at === text.length) row.push(""); continue; }
    if (text[at] === "\r") at++;
    at++;
    rows.push(row);
    row = [];
  }
  return rows;
}

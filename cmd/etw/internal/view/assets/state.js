// What the page shows is its address: a view, and the flags that choose.

const base = new URL(document.baseURI).pathname;
const listeners = new Set();

export const state = { view: "overview", sub: "", flags: {} };

// read takes the address.
function read() {
  const [view, ...sub] = location.pathname.slice(base.length).split("/");
  state.view = view || "overview";
  state.sub = decodeURIComponent(sub.join("/"));
  state.flags = {};
  for (const [name, value] of new URLSearchParams(location.search)) {
    state.flags[name] = name in state.flags ? [state.flags[name], value].flat() : value;
  }
}

// address returns the address of a view.
export function address(to) {
  const flags = new URLSearchParams();
  for (const [name, value] of Object.entries(to.flags)) {
    for (const v of [value].flat()) if (v !== "" && v != null) flags.append(name, v);
  }
  const q = flags.toString();
  return base + to.view + (to.sub ? "/" + encodeURIComponent(to.sub) : "") + (q ? "?" + q : "");
}

// go shows another view, or the same with other flags; null takes a flag away. It is a step
// for Back unless it replaces.
export function go({ view = state.view, sub, flags = {}, replace = false }) {
  const same = view === state.view;
  const all = { ...state.flags, ...flags };
  for (const [name, value] of Object.entries(all)) if (value == null || value === "") delete all[name];
  const to = address({ view, sub: sub ?? (same ? state.sub : ""), flags: all });
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  read();
  listeners.forEach(f => f());
}

// keep puts flags into the address for whom it is given to, and draws nothing anew.
export function keep(flags) {
  for (const [name, value] of Object.entries(flags)) if (value) state.flags[name] = value; else delete state.flags[name];
  history.replaceState(null, "", address(state));
}

export function onChange(f) { listeners.add(f); }

addEventListener("popstate", () => { read(); listeners.forEach(f => f()); });
read();

// ms returns the milliseconds of a flag such as 3854.2ms or 1m2.5s, or null.
export function ms(text) {
  const units = { h: 3600e3, m: 60e3, s: 1e3, ms: 1, us: 1e-3, "µs": 1e-3, ns: 1e-6 };
  if (!/^([\d.]+(h|m|s|ms|us|µs|ns))+$/.test(text || "")) return null;
  return [...text.matchAll(/([\d.]+)([a-zµ]+)/g)].reduce((sum, [, n, unit]) => sum + n * units[unit], 0);
}

// windowFlags returns the flags of a window, in which events begin with the first.
export const windowFlags = (from, to) => ({ from: from == null ? null : from.toFixed(3) + "ms", to: to == null ? null : to.toFixed(3) + "ms", after: null });

// The flags that hold for all views: which time, processes and threads.
export const scopeFlags = ["from", "to", "process", "tid", "activity", "file"];
// The flags that shape stacks.
export const stackFlags = ["of", "group", "fold", "fold-percent", "include", "exclude", "names", "label"];

"use strict";
// What all pages share. Texts become text nodes, never markup.
const page = (() => {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null"); // of a page that has its own

  // h makes an element. Attributes that begin with "on" are listeners.
  function h(tag, attrs, ...kids) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attrs || {})) {
      if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
      else if (name === "value") e.value = value;
      else if (value === true) e.setAttribute(name, "");
      else if (value !== false && value != null) e.setAttribute(name, value);
    }
    for (const kid of kids.flat(Infinity)) {
      if (kid != null && kid !== false && kid !== "") e.append(kid);
    }
    return e;
  }

  const formats = [];
  // number writes a number with so many digits after the point.
  function number(v, digits) {
    if (v == null || Number.isNaN(v)) return "-";
    digits = Math.min(digits || 0, 6);
    formats[digits] ||= new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return formats[digits].format(v);
  }

  // precise writes a number with three digits that count.
  function precise(v) {
    if (v == null || Number.isNaN(v)) return "-";
    const a = Math.abs(v);
    if (a === 0 || a >= 99.95) return number(v, 0);
    if (a >= 9.995) return number(v, 1);
    if (a >= 0.9995) return number(v, 2);
    if (a >= 0.0995) return number(v, 3);
    return String(Number(v.toPrecision(2)));
  }

  // amount writes a number with a unit that fits it, if there are larger or smaller ones.
  function amount(v, unit) {
    const steps = { // from where on, divided by what
      MB: [[1e6, 1e6, "TB"], [1e3, 1e3, "GB"], [1, 1, "MB"], [1e-3, 1e-3, "kB"], [0, 1e-6, "bytes"]],
      ms: [[1e3, 1e3, "s"], [0.1, 1, "ms"], [0, 1e-3, "µs"]],
    }[unit];
    if (!steps || !v) return ((Number.isInteger(v) ? number(v) : precise(v)) + " " + unit).trim();
    const [, per, name] = steps.find(([from]) => Math.abs(v) >= from);
    return precise(v / per) + " " + name;
  }

  // time writes a point in time, in seconds, as finely as step needs.
  function time(s, step) {
    if (step >= 1 && s >= 120) {
      const t = Math.round(s), two = n => String(n).padStart(2, "0");
      return t >= 3600 ? Math.floor(t / 3600) + ":" + two(Math.floor(t / 60) % 60) + ":" + two(t % 60) : Math.floor(t / 60) + ":" + two(t % 60);
    }
    return number(s, digitsOf(step)) + " s";
  }

  // digitsOf returns how many digits after the point a step has.
  function digitsOf(step) {
    let digits = 0;
    while (digits < 6 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-9 * 10 ** digits) digits++;
    return digits;
  }

  const probe = h("i", { class: "hidden" });
  document.body.append(probe);
  const colors = new Map(), onTheme = new Set([() => colors.clear()]);
  // color resolves a colour of the style sheet. To ask for one has the browser look at all styles anew.
  function color(name) {
    if (!colors.has(name)) {
      probe.style.color = "var(--" + name + ")";
      colors.set(name, getComputedStyle(probe).color);
    }
    return colors.get(name);
  }

  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  function setTheme(theme) {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    onTheme.forEach(f => f());
  }
  dark.addEventListener("change", () => onTheme.forEach(f => f()));

  // A page is printed in light colours.
  const onPrint = new Set();
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    setTheme("light");
    onPrint.forEach(f => f(true));
  });
  addEventListener("afterprint", () => {
    setTheme(before);
    onPrint.forEach(f => f(false));
  });

  function themeButton() {
    const b = h("button", { class: "quiet", type: "button", onclick: () => { setTheme(isDark() ? "light" : "dark"); } });
    const label = () => { b.textContent = isDark() ? "Light" : "Dark"; b.setAttribute("aria-label", "show in " + (isDark() ? "light" : "dark") + " colours"); };
    label();
    onTheme.add(label);
    return b;
  }

  // warnings lists what a reader has to know; of many, the rest at a click.
  function warnings(list) {
    const few = 6, items = texts => h("ul", {}, texts.map(t => h("li", {}, t)));
    if (!list.length) return null;
    return h("section", { class: "warnings" }, h("h2", {}, "Read this first"), items(list.slice(0, few)),
      list.length > few ? h("details", {}, h("summary", {}, number(list.length - few) + " more"), items(list.slice(few))) : null);
  }

  return { data, h, warnings, number, precise, amount, time, digitsOf, color, themeButton, onTheme, onPrint };
})();

// What is shown as a file: the figure as SVG, the table as CSV, the samples for other tools.
import { h, query } from "./ask.js";

// A Pen takes the place of a canvas that figures are painted on, and writes SVG.
class Pen {
  constructor() { Object.assign(this, { parts: [], top: 0, width: 0, height: 0, globalAlpha: 1, fillStyle: "", strokeStyle: "", lineWidth: 1, font: "", textAlign: "left", textBaseline: "alphabetic", path: "" }); }
  size(width, height) { this.top = this.height; this.width = Math.max(this.width, width); this.height += height + 12; this.textAlign = "left"; this.textBaseline = "alphabetic"; }
  put(name, attrs, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, typeof v === "number" ? Number(v.toFixed(2)) : v);
    if (this.globalAlpha < 1) e.setAttribute("opacity", this.globalAlpha.toFixed(2));
    if (text != null) e.textContent = text;
    this.parts.push(e);
  }
  fillRect(x, y, width, height) { if (width > 0 && height > 0) this.put("rect", { x, y: y + this.top, width, height, fill: this.fillStyle }); }
  strokeRect(x, y, width, height) { this.put("rect", { x, y: y + this.top, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
  fillText(text, x, y) {
    const [, size, family] = /([\d.]+px) (.*)$/.exec(this.font) || [];
    const shift = { top: "0.8em", middle: "0.35em" }[this.textBaseline] || "0";
    this.put("text", { x, y: y + this.top, dy: shift, fill: this.fillStyle, "font-size": size, "font-family": family, "text-anchor": { right: "end", center: "middle" }[this.textAlign] || "start" }, text);
  }
  measureText(text) { Pen.ruler ||= document.createElement("canvas").getContext("2d"); Pen.ruler.font = this.font; return Pen.ruler.measureText(text); }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += "M" + x.toFixed(1) + " " + (y + this.top).toFixed(1); }
  lineTo(x, y) { this.path += (this.path ? "L" : "M") + x.toFixed(1) + " " + (y + this.top).toFixed(1); }
  arc(x, y, r) { this.path += "M" + (x - r).toFixed(1) + " " + (y + this.top).toFixed(1) + "a" + r + " " + r + " 0 1 0 " + 2 * r + " 0a" + r + " " + r + " 0 1 0 " + -2 * r + " 0"; }
  fill() { this.put("path", { d: this.path, fill: this.fillStyle }); }
  stroke() { this.put("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
}

// figures are those of the page that can be painted, from above.
const figures = () => [...document.querySelectorAll(".strip:not([hidden]) *, .view *")].map(e => e.figure).filter(f => f?.paintAll);

function svg() {
  const pen = new Pen(), root = document.createElementNS("http://www.w3.org/2000/svg", "svg"), style = getComputedStyle(document.body);
  figures().forEach(f => f.paintAll(pen));
  root.setAttribute("viewBox", "0 0 " + pen.width + " " + pen.height);
  root.setAttribute("width", pen.width);
  root.setAttribute("height", pen.height);
  const back = new Pen();
  back.fillStyle = style.backgroundColor;
  back.fillRect(0, 0, pen.width, pen.height);
  root.append(...back.parts, ...pen.parts);
  return new XMLSerializer().serializeToString(root);
}

function download(name, href) {
  const a = h("a", { href, download: name });
  document.body.append(a);
  a.click();
  a.remove();
}

// saving is the list of files that what is shown can become. shown returns the question, its flags,
// and whether it is one of samples.
export function saving(name, shown) {
  const list = h("select", { "aria-label": "save what is shown" });
  const forms = { svg: "figure as SVG", csv: "table as CSV", pprof: "samples as pprof", speedscope: "samples for speedscope", firefox: "samples for Firefox Profiler" };
  list.addEventListener("change", () => {
    const form = list.value, { question, flags, samples } = shown();
    list.value = "";
    if (form === "svg") {
      const href = URL.createObjectURL(new Blob([svg()], { type: "image/svg+xml" }));
      download(name() + ".svg", href);
      setTimeout(() => URL.revokeObjectURL(href), 10000);
    } else if (form === "csv") download(name() + "-" + question + ".csv", "api/" + question + "?" + query({ ...flags, format: "csv" }));
    else download("", "api/export?" + query({ ...samples, format: form }));
  });
  // The list has what there is to save now.
  list.offer = () => {
    const now = shown(), has = { svg: figures().length > 0, csv: Boolean(now.question) && now.question !== "report" };
    list.replaceChildren(h("option", { value: "" }, "Save …"), ...Object.entries(forms).filter(([form]) => has[form] ?? Boolean(now.samples)).map(([form, text]) => h("option", { value: form }, text)));
  };
  return list;
}

"use strict";
(() => {
  const { data, h, number } = page;
  const model = data.flame, total = model.self.reduce((a, b) => a + b, 0);
  const flame = makeFlame(model, data.texts);
  const table = new DataTable(data.top, data.texts);
  table.body.addEventListener("click", e => {
    const tr = e.target.closest("tr.data");
    if (tr) flame.search(data.texts[data.top.columns[0].t[tr.dataset.row]]);
  });
  const lines = data.lines && new DataTable(data.lines, data.texts);
  if (lines) lines.body.addEventListener("click", e => {
    const tr = e.target.closest("tr.data"), method = data.lines.columns.find(c => c.k === "method");
    if (tr) flame.search(data.texts[method.t[tr.dataset.row]]);
  });
  const main = document.getElementById("page");
  main.append(
    h("div", { class: "top" }, h("div", { class: "row" }, h("h1", { title: data.title }, data.title),
      h("span", { class: "sub" }, model.what + ": " + number(total, model.unit === "ms" ? 1 : 0) + (model.unit ? " " + model.unit : "")),
      h("button", { class: "quiet", type: "button", onclick: () => print() }, "Print"), page.themeButton())),
    ...[
      page.warnings(data.warnings),
      data.lead.map(t => h("p", { class: "lead" }, t)),
      flame.root,
      h("p", { class: "lead" }, "A click on a method in the table looks for it above."),
      table.root,
      lines && lines.root,
      data.facts.length ? h("footer", { class: "end" }, h("details", { class: "facts" }, h("summary", {}, "More on this"), h("dl", { class: "pairs" }, data.facts.map(([n, t]) => [h("dt", {}, n), h("dd", {}, t)])))) : null,
    ].flat().filter(Boolean));
  page.onPrint.add(() => flame.print());
})();

// The rows of a tree of calls, as the graph that reports have draws them.

// graphOf draws rows by what a call weighs. Callers grow up from a method, which is the first row.
export function graphOf({ rows, weight, unit, up, label = "flame graph", pick, open }) {
  const texts = [], ids = new Map(), id = text => {
    if (!ids.has(text)) ids.set(text, texts.push(text) - 1);
    return ids.get(text);
  };
  const model = { unit, names: [], full: [], groups: [], caller: [], frame: [], self: [], total: [] }, frames = new Map(), path = [];
  rows.forEach((r, i) => {
    if (!frames.has(r.full)) {
      frames.set(r.full, frames.size);
      model.names.push(id(r.method));
      model.full.push(id(r.full));
      model.groups.push(id(r.module || ""));
    }
    path.length = r.depth;
    model.caller.push(r.depth ? path[r.depth - 1] : -1);
    model.frame.push(frames.get(r.full));
    model.self.push(weight(r.self));
    model.total.push(weight(r.total));
    path.push(i);
  });
  const graph = makeFlame(model, texts, { pick, open, mode: up == null ? "" : up ? "flame" : "calls", label });
  return Object.assign(graph.root, { take: graph.focus, search: graph.find, figure: graph });
}

// Input: the parts of the story, selecting, zooming, filtering, and what a link keeps.

const file = JSON.parse(byId("story").textContent); // the story of a file; null on the page of a server
const server = file ? undefined : new Server(location.search);
const source = server || new FileServer(file); // of objects
const model = new Model();
if (file) model.add(file);
const chart = new Chart(model);
const list = new List(chart);
const tip = byId("tip");

// The parts of the page below the chart, by name. Each may have a function draw, which is called when
// it is shown and, with the new things, when something has happened.
const panes = { events: {} };
let pane = "events";

function describe() {
  const { writes, requests, faults } = model.counts;
  const watches = model.readers.filter((r) => r.kind === "watch").length;
  byId("title").textContent = printable(model.title || "fakeapi");
  byId("summary").textContent = [
    plural(writes + model.earlier, "revision"), plural(watches, "watcher"), plural(requests, "refused request"),
    plural(faults, "fault"), `since ${new Date(model.began).toISOString().slice(0, 19).replace("T", " ")} UTC${model.ended.at ? `, for ${span(model.ended.at)}` : ""}`,
  ].join(" · ");
}

// choose selects an event or a mark in the chart, the list and the details. from is where it
// was selected.
function choose(id, from) {
  const e = model.events.get(id), m = !e && model.markOf(id);
  chart.chosen = e || m ? id : null;
  if (chart.chosen && from !== "link") setFollow(false);
  if (m) {
    showMark(m.reader, m.mark);
  } else if (!e) {
    showOverview();
  } else {
    if (from !== "chart") chart.view.reveal(chart.scale.place(e.order));
    if (e.members) showFold(e);
    else if (e.revision) showRevision(e);
    else if (e.request) showRequest(e);
    else if (e.note) showNote(e);
    else if (e.loop) showLoop(e);
    else showMark(e.reader, e.mark);
  }
  if (pane === "objects" && chart.chosen && from === "chart") panes.objects.show({ revision: model.revisionAt((e || m.mark).order) });
  details.setAttribute("aria-live", chart.chosen ? "polite" : "off");
  details.scrollTop = 0;
  if (from !== "list") list.reveal(chart.chosen);
  list.draw();
  redraw();
  keepLink();
}

// step selects another event of the list: to is "first", "last", or the number of
// events to move by.
function step(to) {
  const { lines } = chart;
  if (!lines.length) return;
  const now = lines.indexOf(model.events.get(chart.chosen));
  let next = now + to;
  if (to === "first") next = 0;
  else if (to === "last") next = lines.length - 1;
  else if (now < 0) next = to > 0 ? 0 : lines.length - 1;
  choose(lines[Math.min(Math.max(next, 0), lines.length - 1)].id, "keys");
}

// The options of the filters grow with what has happened.
const options = { client: new Set(), resource: new Set(), namespace: new Set(), verb: new Set(verbs) };

function offer(name, value) {
  if (!value || options[name].has(value)) return;
  options[name].add(value);
  const select = byId(name), later = [...select.options].slice(1).find((o) => o.value > value);
  select.add(new Option(printable(value), value), later);
}

function offerAll(things) {
  for (const { client, targets, verb } of things) {
    if (client) offer("client", client.name);
    for (const t of targets || []) {
      offer("resource", t.resource);
      offer("namespace", t.namespace);
    }
    if (verb) offer("verb", verb.split(" ")[0]);
  }
  for (const r of model.readers) {
    offer("resource", r.resource);
    offer("client", r.client.name);
  }
}

function refilter() {
  for (const name of Object.keys(filter)) filter[name] = byId(name).value.trim();
  chart.rebuild();
  const e = model.events.get(chart.chosen);
  if (e && !shown(e)) choose(null);
  list.draw();
  list.reveal(chart.chosen);
  redraw();
  keepLink();
}

let frame = 0, drawn = 0;

// redraw draws the chart before the next frame, and goes on while it follows the end: then it draws at
// most forty times a second, and leaves the other frames to what scrolls.
function redraw() {
  frame ||= requestAnimationFrame((now) => {
    frame = 0;
    if (chart.following && now - drawn < 25) {
      redraw();
      return;
    }
    drawn = now;
    const moves = chart.following && chart.follow();
    chart.draw();
    if (moves) redraw();
  });
}

function zoom(factor, place) {
  chart.view.zoom(factor, chart.following ? chart.view.hi : place);
  chart.span = chart.view.width;
  redraw();
}

function setFollow(on) {
  if (chart.following === on || !server) return;
  chart.following = on;
  byId("follow").setAttribute("aria-pressed", on);
  if (on) {
    chart.span = chart.mode === "time" ? 20_000 : 120;
    list.toEnd();
  }
  redraw();
}

// arrive adds a part of the story of a server. Another instance of the server has another story.
let instance, describing = 0;

function arrive(part, from) {
  if (instance && instance !== from) {
    model.clear();
    chart.rebuild();
  }
  const first = !instance;
  instance = from;
  const things = model.add(part);
  chart.add(things);
  offerAll(things);
  if (first) {
    chart.showRecent();
    setFollow(true);
    readLink();
  }
  list.follow();
  redraw();
  if (panes[pane].draw) panes[pane].draw(things);
  describing ||= setTimeout(() => {
    describing = 0;
    describe();
    if (!chart.chosen && !details.matches(":hover, :focus-within")) showOverview();
  }, first ? 0 : 1000);
}

function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) {
    if (e.key === "Escape") byId("chart").focus();
    return;
  }
  const onButton = e.target.closest("button, a, summary") && (e.key === "Enter" || e.key === " ");
  const inPane = e.target.closest("#details, .pane:not(#pane-events)") && /^(Arrow|Home$|End$)/.test(e.key);
  if (onButton || inPane) return;
  const back = e.key === "ArrowLeft" || e.key === "ArrowUp", forth = e.key === "ArrowRight" || e.key === "ArrowDown";
  if (back || forth) {
    if (e.shiftKey) {
      setFollow(false);
      chart.view.pan((forth ? 0.2 : -0.2) * chart.view.width);
      redraw();
    } else {
      step(forth ? 1 : -1);
    }
  } else if (e.key === "Home") step("first");
  else if (e.key === "End") step("last");
  else if (e.key === "+" || e.key === "=") zoom(0.6);
  else if (e.key === "-" || e.key === "_") zoom(1 / 0.6);
  else if (e.key === "0") zoom(Infinity);
  else if (e.key === "f") setFollow(!chart.following);
  else if (e.key === "/") byId("name").focus();
  else if (e.key === "Escape") choose(null);
  else if (e.key === "Enter" && chart.chosen) details.focus();
  else return;
  e.preventDefault();
}

// The pointers that are down on the plot.
const pointers = new Map();
let moved = 0;

function positionOf(e) {
  const box = chart.canvas.getBoundingClientRect();
  return [e.clientX - box.left, e.clientY - box.top];
}

function pointerDown(e) {
  if (e.button) return;
  pointers.set(e.pointerId, e.clientX);
  moved = 0;
}

function pointerMove(e) {
  if (!pointers.has(e.pointerId)) {
    showTip(e);
    return;
  }
  const then = [...pointers.values()], was = pointers.get(e.pointerId);
  pointers.set(e.pointerId, e.clientX);
  const now = [...pointers.values()];
  moved += Math.abs(e.clientX - was);
  if (moved < 4) return;
  if (!chart.plot.hasPointerCapture(e.pointerId)) chart.plot.setPointerCapture(e.pointerId);
  chart.plot.classList.add("dragging");
  tip.hidden = true;
  setFollow(false);
  const perPixel = chart.view.width / chart.width;
  if (now.length === 2) {
    const middle = (now[0] + now[1]) / 2 - chart.canvas.getBoundingClientRect().left;
    zoom(Math.abs(then[0] - then[1]) / Math.max(1, Math.abs(now[0] - now[1])), chart.placeAt(middle));
  }
  chart.view.pan(-((e.clientX - was) / now.length) * perPixel);
  redraw();
}

function pointerUp(e) {
  if (pointers.delete(e.pointerId) && moved < 4 && e.type === "pointerup") click(e);
  if (!pointers.size) chart.plot.classList.remove("dragging");
}

function click(e) {
  const shape = chart.hit(...positionOf(e));
  if (!shape || shape.id) {
    choose(shape ? shape.id : null, "chart");
    return;
  }
  const margin = Math.max((shape.to - shape.from) * 0.3, 1);
  setFollow(false);
  chart.view.show(shape.from - margin, shape.to + margin);
  redraw();
}

function wheel(e) {
  e.preventDefault();
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    setFollow(false);
    chart.view.pan(((e.deltaX || e.deltaY) / chart.width) * chart.view.width);
    redraw();
  } else {
    zoom(Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 120) * (e.ctrlKey ? 0.01 : 0.003)), chart.placeAt(positionOf(e)[0]));
  }
}

function showTip(e) {
  const shape = chart.hit(...positionOf(e));
  chart.plot.classList.toggle("over", Boolean(shape));
  tip.hidden = !shape;
  if (!shape) return;
  const event = model.events.get(shape.id), m = model.markOf(shape.id);
  if (event) tip.textContent = printable(`${event.no} ${event.who} ${event.text}`);
  else if (m) tip.textContent = m.mark.kind === "end" ? "the client ended the watch" : printable(`${markNames[m.mark.kind]} ${m.mark.name || ""} r${m.mark.revision}`);
  else tip.textContent = `${shape.count} events: click to zoom in`;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - box.width - 4))}px`;
  tip.style.top = `${e.clientY + 16 + box.height > innerHeight ? e.clientY - box.height - 10 : e.clientY + 16}px`;
}

// overviewMove moves the view to the pointer in the overview.
function overviewMove(e) {
  if (e.type === "pointermove" && !e.buttons) return;
  setFollow(false);
  chart.overview.setPointerCapture(e.pointerId);
  const part = (e.clientX - chart.overview.getBoundingClientRect().left) / chart.width, s = chart.scale, middle = s.min + part * (s.max - s.min);
  chart.view.show(middle - chart.view.width / 2, middle + chart.view.width / 2);
  redraw();
}

const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  root.dataset.theme = theme;
  readColors();
  chart.bins = null; // they are drawn again
  redraw();
}

function setAxis(mode) {
  chart.mode = mode;
  chart.rebuild();
  if (chart.following) {
    chart.following = false;
    setFollow(true);
  }
  redraw();
}

function showPane(name) {
  pane = panes[name] ? name : "events";
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const on = tab.id === `tab-${pane}`;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !on;
  }
  document.body.dataset.pane = pane;
  chart.arranged = -1; // there is another room for the lanes
  if (panes[pane].draw) panes[pane].draw();
  list.draw();
  redraw();
  keepLink();
}

// A link keeps the view: the fragment of the URL has what differs from the defaults.
const linked = {
  event: [() => chart.chosen, (v) => choose(v || null, "link")],
  axis: [() => (chart.mode === "steps" ? "" : chart.mode), (v) => {
    byId("axis").value = v || "steps";
    if (chart.mode !== byId("axis").value) setAxis(byId("axis").value);
  }],
  at: [() => pane === "objects" && at.revision || "", (v) => Object.assign(at, { revision: +v || 0 })],
  object: [() => pane === "objects" && (at.object ? JSON.stringify(Object.values(at.object)) : at.resource) || "", (v) => v && linkObject(v)],
  pane: [() => (pane === "events" ? "" : pane), (v) => showPane(v)],
};

// linkObject shows the object, or the resource, of a link.
function linkObject(value) {
  try {
    const [resource, namespace, name] = value.startsWith("[") ? JSON.parse(value) : [value];
    Object.assign(at, { resource, object: name ? { resource, namespace, name } : null });
  } catch {
    // The link is not one of this page.
  }
}

let reading = false;

function keepLink() {
  if (reading) return;
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) all.set(name, value);
  for (const [name, [get]] of Object.entries(linked)) if (get()) all.set(name, get());
  const hash = all.size ? `#${all}` : "";
  if (location.hash !== hash) history.replaceState(null, "", hash || location.pathname + location.search);
}

function readLink() {
  reading = true;
  const all = new URLSearchParams(location.hash.slice(1));
  let filtered = false;
  for (const name of Object.keys(filter)) {
    const el = byId(name), value = all.get(name) || "";
    if (el.tagName === "SELECT" && name !== "status") offer(name, value);
    filtered ||= el.value !== value;
    el.value = value;
  }
  if (filtered) refilter();
  for (const [name, [, set]] of Object.entries(linked)) set(all.get(name) || "");
  reading = false;
}

byId("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
for (const name of Object.keys(filter)) byId(name).addEventListener(byId(name).tagName === "INPUT" ? "input" : "change", refilter);
byId("tools").addEventListener("submit", (e) => e.preventDefault());
byId("axis").addEventListener("change", (e) => {
  setAxis(e.target.value);
  keepLink();
});
byId("zoom-in").addEventListener("click", () => zoom(0.5));
byId("zoom-out").addEventListener("click", () => zoom(2));
byId("zoom-all").addEventListener("click", () => {
  setFollow(false);
  zoom(Infinity);
});
byId("follow").addEventListener("click", () => setFollow(!chart.following));
document.addEventListener("keydown", keys);
list.box.addEventListener("click", (e) => {
  const row = e.target.closest("[data-id]");
  if (row) choose(row.dataset.id, "list");
});
list.box.addEventListener("wheel", (e) => e.deltaY < 0 && setFollow(false), { passive: true });
details.addEventListener("click", (e) => {
  const to = e.target.closest("[data-go], [data-object]");
  if (!to) return;
  if (to.dataset.go) choose(to.dataset.go, "keys");
  else {
    panes.objects.open(to.dataset.object);
    showPane("objects");
  }
});
chart.labels.addEventListener("click", (e) => {
  const label = e.target.closest("[data-reader]");
  if (!label) return;
  choose(null);
  showReader(+label.dataset.reader);
});
chart.plot.addEventListener("pointerdown", pointerDown);
chart.plot.addEventListener("pointermove", pointerMove);
chart.plot.addEventListener("pointerup", pointerUp);
chart.plot.addEventListener("pointercancel", pointerUp);
chart.plot.addEventListener("pointerleave", () => { tip.hidden = true; });
chart.plot.addEventListener("wheel", wheel, { passive: false });
function measure() {
  chart.measure();
  redraw();
}

chart.box.addEventListener("scroll", measure);
new ResizeObserver(measure).observe(chart.box);
chart.overview.addEventListener("pointerdown", overviewMove);
chart.overview.addEventListener("pointermove", overviewMove);
byId("tabs").addEventListener("click", (e) => e.target.closest("[role=tab]") && showPane(e.target.id.slice(4)));
byId("tabs").addEventListener("keydown", (e) => {
  const all = [...document.querySelectorAll("[role=tab]")].filter((tab) => tab.checkVisibility()), now = all.indexOf(e.target), n = all.length;
  const next = all[{ ArrowRight: (now + 1) % n, ArrowLeft: (now + n - 1) % n, Home: 0, End: n - 1 }[e.key]];
  if (!next) return;
  next.focus();
  showPane(next.id.slice(4));
  e.stopPropagation();
  e.preventDefault();
});
addEventListener("resize", () => {
  chart.arranged = -1;
  redraw();
});
addEventListener("hashchange", readLink);

// Input: selecting events, zooming, filtering.

const chart = new Chart();
const tip = document.getElementById("tip");
const byId = (id) => document.getElementById(id);

function describe() {
  byId("title").textContent = printable(story.title || "fakeapi");
  const n = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
  const watches = story.readers.filter((r) => r.kind === "watch").length;
  byId("summary").textContent = [
    n(story.revisions.length + (story.earlier || 0), "revision"), n(watches, "watcher"), n(story.requests.filter(refused).length, "refused request"),
    n(story.notes.filter((e) => e.kind === "fault").length, "fault"), `${span(story.ended.at)} from ${new Date(story.began).toISOString().slice(0, 19).replace("T", " ")} UTC`,
  ].join(" · ");
}

// choose selects an event in the chart, the list and the details. from is where it
// was selected.
function choose(id, from) {
  chart.chosen = id;
  const e = eventOf.get(id);
  const m = !e && /^m(\d+)-(\d+)$/.exec(id || "");
  if (!e && !m) {
    chart.chosen = null;
    showOverview();
  } else if (m) {
    showMark(+m[1], story.readers[+m[1]].marks[+m[2]]);
  } else {
    if (from !== "chart") chart.view.reveal(chart.scale.place(e.order));
    if (e.members) showFold(e);
    else if (e.revision) showRevision(e);
    else if (e.request) showRequest(e);
    else if (e.note) showNote(e);
    else if (e.loop) showLoop(e);
    else showMark(e.reader, e.mark);
  }
  details.scrollTop = 0;
  markChosenEvent(chart.chosen, from !== "list");
  chart.draw();
  const hash = chart.chosen ? `#${chart.chosen}` : " ";
  if (location.hash !== hash) history.replaceState(null, "", hash === " " ? location.pathname + location.search : hash);
}

// step selects another visible event: to is "first", "last", or the number of
// events to move by.
function step(to) {
  const visible = events.filter(listed);
  if (!visible.length) return;
  const now = visible.findIndex((e) => e.id === chart.chosen);
  let next = now + to;
  if (to === "first") next = 0;
  else if (to === "last") next = visible.length - 1;
  else if (now < 0) next = to > 0 ? 0 : visible.length - 1;
  choose(visible[Math.min(Math.max(next, 0), visible.length - 1)].id, "keys");
}

function refilter() {
  filter.resource = byId("resource").value;
  filter.namespace = byId("namespace").value;
  filter.name = byId("name").value.trim();
  chart.build();
  listEvents();
  const e = eventOf.get(chart.chosen);
  if (e && !shown(e)) choose(null);
  else markChosenEvent(chart.chosen, true);
}

function options(select, values) {
  for (const v of [...new Set(values)].filter(Boolean).sort()) select.add(new Option(v, v));
}

let frame = 0;

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => chart.draw());
}

function zoom(factor, place) {
  chart.view.zoom(factor, place);
  redraw();
}

function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select")) {
    if (e.key === "Escape") byId("chart").focus();
    return;
  }
  const onButton = e.target.closest("button") && (e.key === "Enter" || e.key === " ");
  const inDetails = details.contains(e.target) && e.key.startsWith("Arrow");
  if (onButton || inDetails) return;
  const back = e.key === "ArrowLeft" || e.key === "ArrowUp", forth = e.key === "ArrowRight" || e.key === "ArrowDown";
  if (back || forth) {
    if (e.shiftKey) {
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
  else if (e.key === "/") byId("name").focus();
  else if (e.key === "Escape") choose(null);
  else if (e.key === "Enter" && chart.chosen) details.focus();
  else return;
  e.preventDefault();
}

// The pointers that are down on the plot.
const pointers = new Map();
let moved = 0;

function placeOf(e) {
  return chart.placeAt(e.clientX - chart.plot.getBoundingClientRect().left);
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
  const before = [...pointers.values()], was = pointers.get(e.pointerId);
  pointers.set(e.pointerId, e.clientX);
  const now = [...pointers.values()];
  moved += Math.abs(e.clientX - was);
  if (moved < 4) return;
  if (!chart.plot.hasPointerCapture(e.pointerId)) chart.plot.setPointerCapture(e.pointerId);
  chart.plot.classList.add("dragging");
  tip.hidden = true;
  const perPixel = chart.view.width / chart.width;
  if (now.length === 2) {
    const left = chart.plot.getBoundingClientRect().left, middle = (now[0] + now[1]) / 2 - left;
    zoom(Math.abs(before[0] - before[1]) / Math.max(1, Math.abs(now[0] - now[1])), chart.placeAt(middle));
  }
  chart.view.pan(-((e.clientX - was) / now.length) * perPixel);
  redraw();
}

function pointerUp(e) {
  if (pointers.delete(e.pointerId) && moved < 4 && e.type === "pointerup") click(e);
  if (!pointers.size) chart.plot.classList.remove("dragging");
}

function click(e) {
  const el = document.elementFromPoint(e.clientX, e.clientY);
  const target = el && el.closest("[data-id], [data-from]");
  if (!target) {
    choose(null);
  } else if (target.dataset.id) {
    choose(target.dataset.id, "chart");
  } else {
    const a = chart.scale.place(+target.dataset.from), b = chart.scale.place(+target.dataset.to), margin = Math.max((b - a) * 0.3, 1);
    chart.view.show(a - margin, b + margin);
    redraw();
  }
}

function wheel(e) {
  e.preventDefault();
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    chart.view.pan(((e.deltaX || e.deltaY) / chart.width) * chart.view.width);
    redraw();
  } else {
    zoom(Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 120) * (e.ctrlKey ? 0.01 : 0.003)), placeOf(e));
  }
}

function showTip(e) {
  const target = e.target.closest("[data-id], [data-from]");
  if (!target) {
    tip.hidden = true;
    return;
  }
  const { id } = target.dataset, event = eventOf.get(id), m = /^m(\d+)-(\d+)$/.exec(id || "");
  if (event) {
    tip.textContent = printable(`${event.no} ${event.who} ${event.text}`);
  } else if (m) {
    const k = story.readers[+m[1]].marks[+m[2]];
    tip.textContent = k.kind === "end" ? "the client ended the watch" : printable(`${markNames[k.kind]} ${k.name || ""} r${k.revision}`);
  } else {
    tip.textContent = "many: click to zoom in";
  }
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - box.width - 4))}px`;
  tip.style.top = `${e.clientY + 16 + box.height > innerHeight ? e.clientY - box.height - 10 : e.clientY + 16}px`;
}

// overviewMove moves the view to the pointer in the overview.
function overviewMove(e) {
  if (e.type === "pointermove" && !e.buttons) return;
  chart.overview.setPointerCapture(e.pointerId);
  const part = (e.clientX - chart.overview.getBoundingClientRect().left) / chart.width, s = chart.scale, middle = s.min + part * (s.max - s.min);
  chart.view.show(middle - chart.view.width / 2, middle + chart.view.width / 2);
  redraw();
}

const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  root.dataset.theme = theme;
  redraw();
}

byId("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));

options(byId("resource"), story.revisions.flatMap((r) => r.changes.map((c) => c.resource)).concat(story.readers.map((r) => r.resource)));
options(byId("namespace"), story.revisions.flatMap((r) => r.changes.map((c) => c.namespace)));
for (const id of ["resource", "namespace"]) byId(id).addEventListener("change", refilter);
byId("name").addEventListener("input", refilter);
byId("tools").addEventListener("submit", (e) => e.preventDefault());
byId("axis").addEventListener("change", (e) => {
  chart.mode = e.target.value;
  chart.build();
});
byId("zoom-in").addEventListener("click", () => zoom(0.5));
byId("zoom-out").addEventListener("click", () => zoom(2));
byId("zoom-all").addEventListener("click", () => zoom(Infinity));
document.addEventListener("keydown", keys);
list.addEventListener("click", (e) => {
  const row = e.target.closest("[data-id]");
  if (row) choose(row.dataset.id, "list");
});
details.addEventListener("click", (e) => {
  const to = e.target.closest("[data-go]");
  if (to) choose(to.dataset.go, "keys");
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
chart.overview.addEventListener("pointerdown", overviewMove);
chart.overview.addEventListener("pointermove", overviewMove);
addEventListener("resize", redraw);
addEventListener("hashchange", () => choose(decodeURIComponent(location.hash.slice(1)), "keys"));

describe();
listEvents();
setTheme(dark.matches ? "dark" : "light");
choose(decodeURIComponent(location.hash.slice(1)), "keys");
if (!chart.chosen) list.scrollTop = list.scrollHeight;

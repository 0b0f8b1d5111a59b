// Words and numbers as the page shows them.

const byId = (id) => document.getElementById(id);
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// printable makes what is not printable visible, except newlines and tabs.
function printable(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === "\n" || c === "\t" ? c : `\\u{${c.codePointAt(0).toString(16)}}`));
}

// escape returns a text as HTML. Everything from the server passes it.
function escape(text) {
  return printable(text).replace(/[&<>"']/g, (c) => escapes[c]);
}

// commandHTML returns a command as HTML that breaks lines between words, and within long words only.
function commandHTML(text) {
  return text.replace(/\S+|\s+/g, (word) => (word.length > 44 || !word.trim() ? escape(word) : `<span class="word">${escape(word)}</span>`));
}

function plural(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

// offset formats Moment.at.
function offset(at) {
  const s = at / 1e6;
  if (s < 60) return `+${s.toFixed(3)} s`;
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  if (h) return `+${h}h ${String(m).padStart(2, "0")}m ${Math.floor(s % 60)}s`;
  return `+${m}m ${(s % 60).toFixed(3).padStart(6, "0")}s`;
}

// span formats a duration in microseconds.
function span(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${+(us / 1000).toPrecision(3)} ms`;
  if (us < 6e7) return `${+(us / 1e6).toPrecision(3)} s`;
  return us < 36e8 ? `${Math.floor(us / 6e7)}m ${Math.round(us / 1e6) % 60}s` : `${Math.floor(us / 36e8)}h ${Math.round(us / 6e7) % 60}m`;
}

function pathOf(t) {
  return t.namespace && t.name ? `${t.namespace}/${t.name}` : t.name || "";
}

function targetOf(t) {
  return [t.resource, pathOf(t)].filter(Boolean).join(" ");
}

function clientOf(c) {
  return c.manager && c.manager !== c.name ? `${c.name} (${c.manager})` : c.name;
}

// readerOf describes a reader without its client.
function readerOf(r) {
  let text = `${r.kind} ${r.resource}`;
  if (r.name) text += ` ${pathOf(r)}`;
  else if (r.namespace) text += ` in ${r.namespace}`;
  return r.selector ? `${text} · ${r.selector}` : text;
}

function noteOf(n) {
  const about = n.resource && !n.text.includes(n.resource) ? ` (${n.resource})` : "";
  return `${n.text}${about}${n.client ? `, for ${n.client.name}` : ""}`;
}

// yaml formats a value like YAML, for reading only.
function yaml(v, indent = "") {
  if (Array.isArray(v)) {
    return v.length ? v.map((e) => `${indent}- ${yaml(e, `${indent}  `).trimStart()}`).join("\n") : "[]";
  }
  if (v !== null && typeof v === "object") {
    return Object.keys(v).map((name) => `${indent}${name}:${yamlMember(v[name], indent)}`).join("\n") || "{}";
  }
  return v === "" ? '""' : String(v);
}

// yamlMember formats the value of a member whose name has the given indent.
function yamlMember(v, indent) {
  if (v !== null && typeof v === "object" && Object.keys(v).length) return `\n${yaml(v, Array.isArray(v) ? indent : `${indent}  `)}`;
  if (typeof v === "string" && v.includes("\n")) return ` |\n${v.replace(/^/gm, `${indent}  `)}`;
  return ` ${yaml(v)}`;
}

// before returns the index of the last element whose key is not greater than value, of those from one
// index up to another, and the index before these if there is none. The keys ascend.
function before(list, value, key = (element) => element, lo = 0, hi = list.length) {
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (key(list[mid]) <= value) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

const byOrder = (moment) => moment.order;
const byPlace = (item) => item.place;

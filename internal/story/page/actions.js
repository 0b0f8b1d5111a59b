// Actions: forms that do something to the server, each with the curl and the Go line for the same.

const quote = (text) => JSON.stringify(text);
const units = { ms: ["Millisecond", 1], s: ["Second", 1000], m: ["Minute", 60_000], h: ["Hour", 3_600_000] };

// goDuration returns a duration such as 1m30s as a Go expression.
function goDuration(text) {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smh])/g)];
  if (!text || parts.map(([part]) => part).join("") !== text) return `0 /* ${quote(text)} is no duration */`;
  return parts.map(([, n, unit]) => {
    const [name, ms] = units[/\./.test(n) ? "ms" : unit], count = Math.round((n * units[unit][1]) / ms);
    return `${count === 1 ? "" : `${count}*`}time.${name}`;
  }).join(" + ");
}

const text = (name, label, value = "", placeholder = "") => ({ name, label, value, placeholder });
const duration = (...field) => ({ ...text(...field), short: true });
const number = (name, label, value = "") => ({ name, label, value, type: "number", short: true });
const resourceField = { name: "resource", label: "Resource", value: "", placeholder: "all", list: "known-resources" };
const clientField = { name: "userAgent", label: "User agent", value: "", placeholder: "all", title: "A * stands for any text, as in manager/*" };

// some returns the fields that are set, numbers as numbers.
function some(v, ...names) {
  const set = names.filter((name) => v[name] !== "" && v[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, /^(code|times|revision)$/.test(name) ? +v[name] : v[name]]));
}

// lagOf returns a Go line that sets a lag: for the resource and the clients of the form, with fields.
const lagOf = (v, fields) => `srv.SetLag(${quote(v.resource || "*")}, fakeapi.Lag{${[v.userAgent && `UserAgent: ${quote(v.userAgent)}`, ...fields].filter(Boolean).join(", ")}})`;

// Each action has fields, the requests that it makes from their values, and a Go line. done returns
// what to say, as HTML, of the last answer.
const actions = [
  {
    name: "fork", title: "Fork", about: "starts a server with the same state and history, on a port of its own, with a page of its own",
    fields: [], requests: () => [["POST", "forks"]], go: () => "fork, err := srv.NewFork()",
    done: (a) => `<a href="${escape(a.url)}/debug/fakeapi/" target="_blank" rel="noreferrer">the page of fork ${escape(a.id)}</a>`,
  },
  {
    name: "freeze", title: "Freeze", about: "watches and cached reads of a resource show what they show now",
    fields: [resourceField, clientField], requests: (v) => [["POST", "lag", {}, { ...some(v, "resource", "userAgent"), frozen: true }]], go: (v) => lagOf(v, ["Frozen: true"]),
  },
  {
    name: "lag", title: "Lag", about: "watches and cached reads of a resource are late",
    fields: [resourceField, clientField, duration("by", "By", "3s")], requests: (v) => [["POST", "lag", {}, some(v, "resource", "userAgent", "by")]], go: (v) => lagOf(v, [`By: ${goDuration(v.by)}`]),
  },
  {
    name: "thaw", title: "Thaw", about: "ends lags",
    fields: [resourceField, clientField], requests: (v) => [["DELETE", "lag", some(v, "resource", "userAgent")]], go: (v) => lagOf(v, []),
  },
  {
    name: "fault", title: "Fault", about: "makes requests fail or wait",
    fields: [
      { name: "verb", label: "Verb", value: "update", options: ["*", ...verbs.filter((v) => v !== "apply")] }, resourceField, text("namespace", "Namespace", "", "all"), clientField,
      { name: "code", label: "Code", value: "409", options: ["", "401", "403", "404", "409", "410", "429", "500", "503", "504"] }, duration("delay", "Delay", "", "3s"), number("times", "Times", "1"),
    ],
    requests: (v) => [["POST", "faults", {}, some(v, "verb", "resource", "namespace", "userAgent", "code", "delay", "times")]],
    go: (v) => `srv.Inject(faults.Fault{${[v.verb && `Verb: ${quote(v.verb)}`, v.resource && `Resource: ${quote(v.resource)}`, v.namespace && `Namespace: ${quote(v.namespace)}`,
      v.userAgent && `UserAgent: ${quote(v.userAgent)}`, v.code && `Code: ${v.code}`, v.delay && `Delay: ${goDuration(v.delay)}`, v.times && `Times: ${v.times}`].filter(Boolean).join(", ")}})`,
    done: (a) => (a.faults || []).map((f) => escape(f.summary)).slice(-1).join(""),
  },
  { name: "heal", title: "End faults", about: "removes all faults", fields: [], requests: () => [["DELETE", "faults"]], go: () => "for _, injection := range srv.Injections() { injection.Remove() }" },
  {
    name: "clock", title: "Advance the clock", about: "runs the timers that are due on the way",
    fields: [duration("advance", "By", "1m")], requests: (v) => [["POST", "clock", {}, some(v, "advance")]], go: (v) => `srv.Clock().Advance(${goDuration(v.advance)})`, done: (a) => `it is ${escape(a.now)}`,
  },
  {
    name: "compact", title: "Compact", about: "removes old versions; open watches can end with 410 Expired",
    fields: [{ name: "watches", label: "End watches", type: "checkbox" }], requests: (v) => [["POST", "compact", {}, v.watches ? { watches: true } : {}]],
    go: (v) => (v.watches ? `srv.Compact(0); srv.Inject(faults.ExpireOpenWatches("*"))` : "srv.Compact(0)"), done: (a) => `history begins at r${a.revision}`,
  },
  {
    name: "disconnect", title: "Disconnect", about: "breaks the connections of the watches of a client",
    fields: [{ ...clientField, value: "*" }], requests: (v) => [["POST", "disconnect", {}, some(v, "userAgent")]], go: (v) => `srv.Disconnect(${quote(v.userAgent)})`, done: (a) => plural(a.connections, "connection"),
  },
  {
    name: "restart", title: "Restart a controller", about: "stops a controller and starts it again",
    fields: [{ name: "controller", label: "Controller", options: [] }],
    requests: (v) => [["POST", "controllers", {}, { select: [...running, `-${v.controller}`] }], ["POST", "controllers", {}, { select: running }]],
    go: (v) => `srv.SetControllers(${[...running, `-${v.controller}`].map(quote).join(", ")}); srv.SetControllers(${running.map(quote).join(", ")})`,
  },
  {
    name: "settle", title: "Settle", about: "waits until controllers and clients have nothing left to do",
    fields: [{ ...duration("ahead", "Ahead", "", "10m"), title: "How far a manual clock may advance" }], requests: (v) => [["POST", "settle", {}, some(v, "ahead")]], done: (a) => `settled at r${a.revision}`,
    go: (v) => (v.ahead ? `srv.Settle(ctx, fakeapi.SettleOptions{Ahead: ${goDuration(v.ahead)}})` : "srv.Settle(ctx)"),
  },
  {
    name: "play", title: "Play a scenario", about: "sends the requests of a file to this server and compares its answers",
    fields: [{ name: "file", label: "File", type: "file" }, { name: "scenarios", label: "or its text", type: "textarea", placeholder: "name: read\nsteps:\n- do: GET /api/v1/namespaces/default" }],
    requests: (v) => [["POST", "play", {}, { scenarios: v.scenarios }]], go: () => `scenarios.Play(t, srv, "scenario.yaml")`,
    line: () => `jq -Rs '{scenarios: .}' scenario.yaml | ${server.commandLine("POST", "play", {}, null).replace(/'null'$/, "@-")}\nfakeapi play scenario.yaml --server ${location.origin}`,
    done: (a) => `<ul class="played">${a.scenarios.map((s) => `<li><span class="${s.passed ? "" : "never"}">${s.passed ? "passed" : "differs"}</span> ${escape(s.name)}, ${s.steps} of ${plural(s.of, "step")}${s.report ? `<pre class="yaml">${escape(s.report)}</pre>` : ""}</li>`).join("")}</ul>`,
  },
  {
    name: "scenario", title: "These requests as a scenario", about: "a file that repeats the requests that pass the filter",
    fields: [{ name: "which", label: "Requests", value: "in view", options: ["in view", "all"] }],
    requests: (v) => [["GET", "scenario", { ...filter, ...(v.which === "all" ? {} : { from: chart.orderAt(chart.view.lo), to: chart.orderAt(chart.view.hi) }) }]],
    line: (curl) => `${curl} | jq -r .scenario > requests.yaml\nfakeapi play requests.yaml`, go: () => `scenarios.Play(t, srv, "requests.yaml")`,
    done: (a) => {
      save("requests.yaml", new Blob([a.scenario], { type: "application/yaml" }));
      return `${plural(a.steps, "step")}${a.omitted ? `, without ${plural(a.omitted, "write")} that ${a.omitted === 1 ? "was" : "were"} refused or changed nothing` : ""}`;
    },
  },
];

// save lets the browser save a file.
function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Downloads are files that the server makes.
const downloads = [
  { name: "story.html", title: "Story", about: "this page as a file", go: "srv.WriteStory(file)", read: async () => (await fetch(server.path("story"), { headers: { Accept: "text/html" } })).blob(), command: () => `${server.commandLine("GET", "story")} -H 'Accept: text/html' > story.html` },
  { name: "fakeapi.state", title: "State", about: "for fakeapi.WithState", go: "srv.WriteState(file)", read: async () => (await fetch(server.path("state"))).blob(), command: () => `${server.commandLine("GET", "state")} > fakeapi.state` },
  { name: "fake.kubeconfig", title: "Kubeconfig", about: "of an administrator", go: "srv.Kubeconfig()", read: async () => new Blob([(await server.send("POST", "kubeconfig")).kubeconfig]), command: () => server.commandLine("POST", "kubeconfig") },
];

let running = []; // the controllers that run, as they were selected

class Actions {
  constructor() {
    this.box = byId("actions");
    this.box.innerHTML = actions.map((a) => this.card(a)).join("")
      + `<section class="card" aria-label="Downloads"><h3>Downloads</h3>${downloads.map((d) => `<p><button type="button" data-download="${d.name}">${d.title}</button> <span class="facts">${d.about}</span></p>`).join("")}<code id="download-line" class="curl"></code><code id="download-go" class="go"></code></section>`;
    for (const a of actions) this.form(a.name).addEventListener("submit", (e) => this.run(e, a));
    this.box.addEventListener("change", async (e) => {
      if (e.target.type === "file" && e.target.files[0]) e.target.form.elements.scenarios.value = await e.target.files[0].text();
    });
    this.box.addEventListener("input", (e) => this.describe(actions.find((a) => a.name === e.target.form?.dataset.action)));
    this.box.addEventListener("click", (e) => e.target.dataset.download && this.download(downloads.find((d) => d.name === e.target.dataset.download)));
  }

  form(name) {
    return this.box.querySelector(`[data-action="${name}"]`);
  }

  card(a) {
    const fields = a.fields.map((f) => `<label>${f.label} ${this.field(f)}</label>`).join(" ");
    return `<form class="card" data-action="${a.name}" aria-label="${a.title}"><h3>${a.title}</h3><p class="facts">${a.about}</p><p class="fields">${fields} <button>${a.title}</button></p>`
      + `<code class="curl"></code><code class="go"></code><p class="result" role="status"></p></form>`;
  }

  field(f) {
    if (f.options) return `<select name="${f.name}">${f.options.map((o) => `<option value="${o}" ${o === f.value ? "selected" : ""}>${o || "none"}</option>`).join("")}</select>`;
    if (f.type === "file") return `<input type="file" name="${f.name}" accept=".yaml,.yml,.json">`;
    if (f.type === "textarea") return `<textarea name="${f.name}" rows="6" placeholder="${f.placeholder}" autocomplete="off" spellcheck="false"></textarea>`;
    if (f.type === "checkbox") return `<input type="checkbox" name="${f.name}">`;
    return `<input name="${f.name}" type="${f.type || "text"}" value="${f.value}" placeholder="${f.placeholder || ""}" ${f.list ? `list="${f.list}"` : ""} ${f.title ? `title="${f.title}"` : ""} class="${f.short ? "short" : ""}" autocomplete="off" spellcheck="false">`;
  }

  // draw is called when the pane is shown.
  async draw(things) {
    if (things) return;
    for (const a of actions) this.describe(a);
    byId("known-resources").replaceChildren(...[...options.resource].sort().map((r) => new Option(r, r)));
    running = (await server.get("controllers")).selected;
    const select = this.form("restart").elements.controller;
    select.replaceChildren(...running.filter((name) => !name.startsWith("-")).map((name) => new Option(name, name)));
    this.form("restart").hidden = !running.length;
    for (const a of actions) this.describe(a);
  }

  values(a) {
    const form = this.form(a.name), of = (el) => (el.type === "checkbox" ? el.checked : el.value.trim());
    return Object.fromEntries(a.fields.map((f) => [f.name, of(form.elements[f.name])]));
  }

  // describe shows the lines that do what the form does.
  describe(a) {
    if (!a) return;
    const v = this.values(a), form = this.form(a.name);
    const curl = a.requests(v).map((r) => server.commandLine(...r)).join("\n");
    form.querySelector(".curl").innerHTML = commandHTML(a.line ? a.line(curl) : curl);
    form.querySelector(".go").textContent = a.go(v);
  }

  async run(e, a) {
    e.preventDefault();
    const result = this.form(a.name).querySelector(".result");
    result.textContent = "…";
    result.classList.remove("never");
    try {
      let answer;
      for (const request of a.requests(this.values(a))) answer = await server.send(...request);
      result.innerHTML = `done${a.done && a.done(answer) ? `: ${a.done(answer)}` : ""}`;
    } catch (err) {
      result.textContent = printable(err.message);
      result.classList.add("never");
    }
  }

  async download(d) {
    byId("download-line").innerHTML = commandHTML(d.command());
    byId("download-go").textContent = d.go;
    save(d.name, await d.read());
  }
}

if (server) panes.actions = new Actions();

// Findings: what clients do that loses what others write or costs too much, which the server finds in its
// journal, and what failed, by client.

class Findings {
  constructor() {
    this.box = byId("findings");
    this.again = 0;
    this.usage = null;
    this.roles = ""; // of the client that was clicked, as HTML
    this.box.addEventListener("click", (e) => {
      const to = e.target.closest("[data-go], [data-count], [data-roles]");
      if (!to) return;
      if (to.dataset.go) {
        showPane("events");
        choose(to.dataset.go, "keys");
      } else if (to.dataset.count) {
        server.send("POST", "usage").then(() => this.read());
      } else {
        this.showRoles(JSON.parse(to.dataset.roles));
      }
    });
  }

  draw(things) {
    if (!things) this.read();
    else if (things.some((t) => t.id)) this.again ||= setTimeout(() => this.read(), 2000);
  }

  async read() {
    clearTimeout(this.again);
    this.again = 0;
    try {
      this.usage = await source.get("usage");
      this.box.innerHTML = this.found() + this.failed() + this.late() + (server ? this.permissions() : "");
    } catch (err) {
      this.box.innerHTML = `<p class="message">${escape(err.message)}</p>`;
    }
  }

  section(title, about, columns, rows, none) {
    const table = () => `<table><thead><tr>${columns.map((c) => `<th>${c}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
    return `<section class="card" aria-label="${title}"><h3>${title}</h3><p class="facts">${about}</p>${rows.length ? table() : `<p>${none}</p>`}</section>`;
  }

  found() {
    const rows = (this.usage.findings || []).map((f) => {
      const e = f.order ? model.lines[before(model.lines, f.order, byOrder)] : undefined;
      const moment = e ? link(e.id, e.order === f.order ? e.no : `after ${e.no}`) : "";
      return `<tr data-rule="${escape(f.rule)}"><td><span class="badge">${escape(f.rule)}</span></td><td>${escape(f.userAgent || "")}</td><td>${f.count}×</td>`
        + `<td>${escape(f.text)} ${moment}<p class="facts">${escape([f.request, f.fix].filter(Boolean).join(" — "))}</p></td></tr>`;
    });
    return this.section("What clients do", "what loses the writes of others or costs more than it needs to, the worst first", ["Rule", "Client", "Times", "What it does"], rows, "Nothing is wrong in what the server remembers.");
  }

  // failed returns the refused requests by client, status and object.
  failed() {
    const groups = new Map();
    for (const e of model.lines) {
      if (!e.request || e.members || !refused(e.request)) continue;
      const q = e.request, key = [q.client.name, q.code, q.verb, q.resource, q.fault ? "a fault" : ""].join("\0");
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(e);
    }
    const rows = [...groups.values()].sort((a, b) => b.length - a.length).slice(0, 30).map((all) => {
      const q = all.at(-1).request;
      return `<tr><td>${q.code}</td><td>${escape(q.client.name)}</td><td>${all.length}×</td><td>${escape(`${q.verb || q.method} ${q.resource || q.uri}`)}: ${q.fault ? "a fault: " : ""}${escape(q.message || "")} ${link(all.at(-1).id, "the last")}</td></tr>`;
    });
    return this.section("Refused requests", "by client, status and resource", ["Status", "Client", "Times", "Request and answer"], rows, "No request was refused.");
  }

  late() {
    const rows = [];
    for (const r of model.readers) {
      const missing = model.unseen(r);
      if (missing.length) rows.push(`<tr><td>behind</td><td>${escape(r.client.name)}</td><td>${missing.length}</td><td>has not seen the newest of ${escape(readerOf(r))} ${link(`r${missing[0].revision}`, `from r${missing[0].revision} on`)}</td></tr>`);
    }
    const stale = model.lines.filter((e) => e.tone === "late" && e.mark);
    for (const e of stale.slice(-10)) rows.push(`<tr><td>stale read</td><td>${escape(e.who)}</td><td></td><td>${escape(e.text)} ${link(e.id, e.no)}</td></tr>`);
    return this.section("Views behind", "watchers and reads that show an older state than the newest", ["View", "Client", "Missing", "What it has not seen"], rows, "Every view shows the newest state.");
  }

  permissions() {
    if (!this.usage.counting) return `<section class="card"><h3>Permissions</h3><p class="facts">which roles a client needs, once the server counts what clients ask</p><p><button type="button" data-count="1">Count</button></p></section>`;
    const clients = new Map(this.usage.requests.filter((r) => r.userAgent).map(({ userAgent, user }) => [`${userAgent}\0${user}`, { userAgent, user }]));
    const rows = [...clients.values()].map((c) => `<tr><td>${escape(c.userAgent)}</td><td>${escape(c.user || "")}</td><td><button type="button" class="link" data-roles="${escape(JSON.stringify(c))}">the roles that it needs, and those that it has</button></td></tr>`);
    return `${this.section("Permissions", "what clients have asked since the server counts", ["Client", "User", "Roles"], rows, "No client has asked for anything yet.")}<section id="roles" class="card" aria-label="Roles" ${this.roles ? "" : "hidden"}>${this.roles}</section>`;
  }

  // showRoles shows the roles that a client needs, and what the roles of its user, as bindings give
  // them, grant more or less than it has asked for.
  async showRoles(client) {
    const r = await server.send("POST", "roles", {}, { ...client, bound: true });
    const line = (what, more) => `<li>${escape(what)}${more ? ` <span class="facts">${escape(more)}</span>` : ""}</li>`;
    const of = (rule) => [rule.verbs.join(", "), rule.nonResourceURLs ? rule.nonResourceURLs.join(", ") : [rule.resources[0], rule.apiGroups[0]].filter(Boolean).join("."), (rule.resourceNames || []).join(", ")].filter(Boolean).join(" ");
    const unused = r.unused.map((u) => line(of(u.rule), `${u.kind} ${u.role}${u.asked ? `; asked: ${u.asked.join(", ")}` : ""}`));
    const missing = r.missing.map((m) => line([m.verb, m.path || [[m.resource, m.subresource].filter(Boolean).join("/"), m.group].filter(Boolean).join(".")].join(" "), m.granted && `granted ${m.granted}`));
    const list = (name, about, lines, none) => `<h3>${about}</h3>${lines.length ? `<ul data-list="${name}">${lines.join("")}</ul>` : `<p class="facts">${none}</p>`}`;
    this.roles = `<p class="facts">${escape(client.userAgent)} as ${escape(client.user || "anybody")}</p>${list("unused", "Granted and never asked", unused, "Bindings give the user nothing that the client has not asked for.")}`
      + `${list("missing", "Asked and not granted by a binding to the user", missing, "Bindings to the user grant all that the client has asked for.")}<h3>The roles that it needs</h3><pre class="yaml">${escape(r.roles)}</pre>`;
    const box = byId("roles");
    Object.assign(box, { hidden: false, innerHTML: this.roles });
    box.scrollIntoView({ block: "nearest" });
  }
}

panes.findings = new Findings();

// Explore: what searches for schedules under which a controller misbehaves have tried and found. They run in
// other processes, and the server reads what they leave in a directory.

// lookEvery is how often the page looks, in milliseconds, while a search runs, and if none does.
const lookEvery = { running: 1000, ended: 5000 };

class Explore {
  constructor() {
    this.box = byId("explore");
    this.again = 0;
    this.said = "";
  }

  // draw is called when the pane is shown.
  draw(things) {
    if (!things) this.read();
  }

  // read reads what there is, and goes on while the pane is shown.
  async read() {
    clearTimeout(this.again);
    let running = false;
    try {
      const found = await server.get("explore");
      running = found.systems.some((s) => s.running);
      this.show(found.directory ? this.overview(found) : this.introduction());
    } catch (err) {
      this.show(`<p class="message">${escape(err.message)}</p>`);
    }
    clearTimeout(this.again);
    if (pane === "explore") this.again = setTimeout(() => pane === "explore" && this.read(), running ? lookEvery.running : lookEvery.ended);
  }

  // show replaces the pane if it is another one, so that a text which is selected stays so.
  show(html) {
    if (html !== this.said) this.box.innerHTML = html;
    this.said = html;
  }

  introduction() {
    return `<section class="card"><h3>Explore</h3><p class="facts">A search tries crashes, conflicts, late events and old views at every point until a controller misbehaves. This server shows no search.</p>
<code class="curl">fakeapi explore --workload workload.yaml --dir plans -- ./my-operator --kubeconfig {kubeconfig}\nfakeapi serve --explore plans</code><code class="go">explore.Run(t, explore.System{Start: start, Workload: explore.Scenario("workload.yaml")}) // go test -explore.dir plans</code></section>`;
  }

  overview(found) {
    const about = `<p class="facts">what searches have left in ${escape(found.directory)}</p><code class="curl">${commandHTML(`${server.commandLine("GET", "explore")}\nfakeapi explore merge ${found.directory}`)}</code><code class="go">explore.Merge(${escape(quote(found.directory))})</code>`;
    if (!found.systems.length) return `<section class="card"><h3>Searches</h3>${about}<p>No search has written anything there yet.</p></section>`;
    return `<section class="card"><h3>Searches</h3>${about}</section>${found.systems.map((s) => this.system(s)).join("")}`;
  }

  system(s) {
    const name = s.name || "a system without a name", counts = [plural(s.plans, "plan"), plural(s.states, "state"), plural(s.searches, "ended search", "ended searches")].join(" · ");
    const findings = s.findings.map((f) => this.finding(f)).join(""), once = s.unrepeated.map((f) => this.finding(f)).join("");
    return `<section class="card system" aria-label="${escape(name)}"><h3>${escape(name)}</h3><p class="facts">${counts}; the reference run has ${plural(s.writePoints, "write")}, ${plural(s.deliveryPoints, "delivery", "deliveries")} and ${plural(s.listPoints, "list")}</p>`
      + (s.running || []).map((r) => this.running(r)).join("")
      + `<h3>${findings ? plural(s.findings.length, "finding") : "No finding"}</h3>${findings}${once ? `<h3>Once, and not again</h3>${once}` : ""}`
      + `<h3>Coverage</h3><table class="coverage"><thead><tr><th>Action</th><th>Point</th><th>Done</th><th>Share</th><th>In the same state</th></tr></thead><tbody>${s.coverage.map((c) => this.coverage(c)).join("")}</tbody></table>${this.permissions(s.permissions)}</section>`;
  }

  running(r) {
    const silent = r.silent > 10 ? ` <span class="never">it has said nothing for ${r.silent} s</span>` : "";
    return `<p class="running"><progress max="1" value="${r.done}" aria-label="Time of the search"></progress> ${escape(r.summary)}${silent}</p>`;
  }

  finding(f) {
    const story = f.storyName ? `<a href="${escape(server.path("explore/story", { name: f.storyName }))}" target="_blank" rel="noreferrer">its story</a>` : "";
    const again = f.repeated === f.tried ? "" : `, repeated ${f.repeated} of ${f.tried} times`;
    return `<div class="finding"><p><span class="badge">${escape(f.oracle)}</span> <b>${escape(f.subject)}</b> ${escape(f.detail)} ${story}</p><p class="facts">${plural(f.plans, "plan")} with it${again}</p>`
      + (f.decisions.length ? `<ol>${f.decisions.map((d) => `<li>${escape(d)}</li>`).join("")}</ol>` : '<p class="facts">without any fault</p>')
      + (f.command ? `<code class="curl">${commandHTML(f.command)}</code>` : "") + "</div>";
  }

  // permissions lists what the system asked for with faults only: tests without faults do not find it.
  permissions(all) {
    const more = all.filter((p) => !p.reference);
    return more.length ? `<h3>Asked for with faults only</h3><ul>${more.map((p) => `<li>${escape(`${p.verb} ${p.resource}`)}</li>`).join("")}</ul>` : "";
  }

  coverage(c) {
    return `<tr><td>${escape(c.action)}</td><td>${escape(c.sort)}</td><td>${c.done} of ${c.points}</td><td><meter max="${Math.max(1, c.points)}" value="${c.done + c.equal}" aria-label="${escape(c.action)} at ${escape(c.sort)} points"></meter></td><td>${c.equal || ""}</td></tr>`;
  }
}

if (server) panes.explore = new Explore();

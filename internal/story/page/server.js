// The server that the page asks. A story in a file has none.

class Server {
  // The page of a replica, and one with secrets, asks for the same.
  constructor(search) {
    this.options = new URLSearchParams([...new URLSearchParams(search)].filter(([name]) => name === "replica" || name === "showSecrets"));
    this.base = "/debug/fakeapi/";
  }

  // path returns the path of an operation with its query.
  path(operation, query = {}) {
    const all = new URLSearchParams(this.options);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") all.set(name, value);
    }
    return `${this.base}${operation}${all.size ? `?${all}` : ""}`;
  }

  // send returns the answer to a request. It throws an Error with the server's message.
  async send(method, operation, query, body) {
    const request = { method, headers: { Accept: "application/json" } };
    if (body !== undefined) {
      request.headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(body);
    }
    const response = await fetch(this.path(operation, query), request);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message || response.statusText);
    return answer;
  }

  get(operation, query) {
    return this.send("GET", operation, query);
  }

  // follow calls add with each part of the story. changed is called with whether the page is
  // connected. The browser connects again by itself, from the last part on.
  follow(add, changed) {
    const source = new EventSource(this.path("events"));
    source.onopen = () => changed(true);
    source.onerror = () => changed(false);
    source.onmessage = (e) => add(JSON.parse(e.data), e.lastEventId.split("-")[0]);
  }

  // commandLine returns a command that sends a request.
  commandLine(method, operation, query, body) {
    const url = location.origin + this.path(operation, query), parts = ["curl"];
    if (location.protocol === "https:") parts.push("--insecure");
    if (method !== "GET" && body === undefined) parts.push("-X", method);
    parts.push(url.includes("?") ? `'${url}'` : url);
    if (body !== undefined) parts.push("--json", `'${JSON.stringify(body).replace(/'/g, "'\\''")}'`);
    return parts.join(" ");
  }
}

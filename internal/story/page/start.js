// The start of the page, after all of its parts.

setTheme(dark.matches ? "dark" : "light");
for (const verb of verbs) byId("verb").add(new Option(verb, verb));
document.body.dataset.live = Boolean(server);
describe();
if (server) {
  showOverview();
  server.follow(arrive, (connected) => {
    byId("state").textContent = connected ? "live" : "connecting…";
    byId("state").dataset.connected = connected;
  });
} else {
  offerAll(model.log);
  list.draw();
  readLink();
  if (!chart.chosen) list.toEnd();
}

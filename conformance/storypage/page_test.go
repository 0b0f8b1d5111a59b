package storypage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// lines returns the lines of the list, also those that are not in view.
func (p *tab) lines() []string {
	p.t.Helper()
	return eval[[]string](p, `chart.lines.map((e) => [e.no, e.who, e.text].join(" "))`)
}

// find returns the id of the first event whose line contains the words.
func (p *tab) find(words string) string {
	p.t.Helper()
	id := eval[string](p, fmt.Sprintf(`chart.lines.filter((e) => [e.no, e.who, e.text].join(" ").includes(%q)).map((e) => e.id)[0] || ""`, words))
	require.NotEmpty(p.t, id, "no line has %q: %v", words, p.lines())
	return id
}

// clickLine clicks the line of an event.
func (p *tab) clickLine(id string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(list.reveal(%q), list.draw(), true)`, id))
	p.click("#e-" + id)
}

// shapes returns how many shapes with these looks are drawn in the chart.
func (p *tab) shapes(look string) int {
	p.t.Helper()
	p.waitForDraw()
	return eval[int](p, fmt.Sprintf(`chart.shapes.filter((s) => s.look === %q).length`, look))
}

// marks returns how many marks an event has in the chart.
func (p *tab) marks(id string) int {
	p.t.Helper()
	p.waitForDraw()
	return eval[int](p, fmt.Sprintf(`chart.shapes.filter((s) => s.id === %q).length`, id))
}

// clickShape clicks the first shape of the chart for which a condition on s is true.
func (p *tab) clickShape(condition string) {
	p.t.Helper()
	p.drag(eval[point](p, fmt.Sprintf(`(() => {
		const s = chart.shapes.find((s) => %s), box = chart.canvas.getBoundingClientRect();
		return { X: box.left + s.x + (s.width || 0) / 2, Y: box.top + s.y - chart.box.scrollTop };
	})()`, condition)), 0)
}

// chosen returns the id of the selected event, "" if none is selected.
func (p *tab) chosen() string {
	p.t.Helper()
	return eval[string](p, `chart.chosen || ""`)
}

// A view is the visible part of the axis.
type view struct{ Lo, Hi float64 }

func (v view) width() float64 { return v.Hi - v.Lo }

func (p *tab) view() view {
	p.t.Helper()
	p.waitForDraw()
	return eval[view](p, `({ Lo: chart.view.lo, Hi: chart.view.hi })`)
}

func TestLanes(t *testing.T) {
	p := open(t, page(t, incident(t)))
	assert.Equal(t, []string{"Writers", "Store", "Watchers", "Server actions", "Reads"}, p.texts("#labels h2"))
	labels := p.texts(".label")
	for i, want := range []string{
		"kubectl2 writes, 1 refused", "scaler1 write, 1 refused", "the test1 write", "revisionsnewest r",
		"managerwatch deployments.apps", "dashboardwatch configmaps", "lagconfigmaps", "faults1", "history and clock2", "kubectl1 read",
	} {
		require.Greater(t, len(labels), i)
		assert.Contains(t, labels[i], want)
	}
	assert.Empty(t, eval[[]string](p, `(() => {
		const box = chart.plot.getBoundingClientRect();
		return chart.shapes.filter((s) => s.look === "rev" || s.look === "word").filter((s) => {
			const width = textWidth(s.text), left = s.look === "rev" ? s.x - width / 2 : s.align === "right" ? s.x - width : s.x;
			return left < 0 || left + width > box.width;
		}).map((s) => s.text);
	})()`), "no label is clipped")
	assert.Empty(t, eval[[]string](p, `(() => {
		const words = chart.shapes.filter((s) => s.look === "word").map((s) => ({ ...s, left: s.align === "right" ? s.x - textWidth(s.text) : s.x, right: s.align === "right" ? s.x : s.x + textWidth(s.text) }));
		return words.filter((a) => words.some((b) => a !== b && a.y === b.y && a.left < b.right && b.left < a.right)).map((s) => s.text);
	})()`), "no label is on another one")
	assert.Equal(t, []string{"+0.000 s", "1m 30s", "+1m 30.000s"}, eval[[]string](p, `chart.ticks.map((t) => t.text)`), "no time is repeated")
	assert.True(t, eval[bool](p, `(() => {
		const bottom = document.getElementById("chart").getBoundingClientRect().bottom;
		return [...document.querySelectorAll(".label[data-reader]")].every((e) => e.getBoundingClientRect().bottom <= bottom);
	})()`), "watchers are in the first screen")
	for _, words := range []string{"create deployments.apps", "spec.replicas 1 → 5", "store configmaps", "delete deployments.apps"} {
		assert.Equal(t, 2, p.marks(p.find(words)), "%s has a mark in the lane of its writer and one in the store", words)
	}
	assert.Equal(t, 1, p.shapes("cut compaction"))
	assert.Equal(t, 1, p.shapes("cut clock"))
	assert.Equal(t, 1, p.shapes("span"), "the lag")
	assert.Equal(t, []string{"1 not seen yet"}, eval[[]string](p, `chart.shapes.filter((s) => s.look === "chip").map((s) => s.text)`), "the dashboard")
	assert.Equal(t, 1, p.shapes("behind"), "the lagging part of its line")
}

// TestOverview checks that the page initially shows the summary.
func TestOverview(t *testing.T) {
	p := open(t, page(t, incident(t)))
	details := p.texts("#details")[0]
	for _, want := range []string{"Summary", "dashboard has not seen 1 revision that it watches (watch configmaps): r", "2 refused requests: 409 409", "1 stale read: r", "1 fault: fault", "1 compaction: compact", "1 advance of the clock: clock"} {
		assert.Contains(t, details, want)
	}
}

// TestLoop checks that a client that writes an object again and again is in the summary and
// in the list, with links to its writes.
func TestLoop(t *testing.T) {
	w := start(t)
	w.as("kubectl/v1.36.0", "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	for i := range 12 {
		w.as([]string{"operator/v1", "backup/v1"}[i%2], "PATCH", "/api/v1/namespaces/shop", fmt.Sprintf(`{"metadata":{"labels":{"owner":"%d"}}}`, i%2))
	}
	p := open(t, page(t, w.Server))
	assert.Contains(t, p.texts("#details")[0], "loop: backup wrote namespaces shop 6 times in 0 µs: metadata.labels.owner 0 → 1")
	p.clickLine(p.find("operator wrote"))
	assert.Equal(t, []string{"loop · namespaces shop"}, p.texts("#details h2"))
	assert.Equal(t, 6, p.count("#details .link"))
	p.click("#details .link")
	assert.Contains(t, p.texts("#details h2")[0], "patch by operator")
}

// TestFold checks that the list has one line for the renewals of a Lease, for the Events of a
// client, and for equal requests, and that the line leads to each of them.
func TestFold(t *testing.T) {
	const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	w := start(t)
	w.as("manager/v1", "POST", lease, `{"metadata":{"name":"lock"},"spec":{"holderIdentity":"m"}}`)
	for i := range 4 {
		w.as("manager/v1", "PATCH", lease+"/lock", fmt.Sprintf(`{"spec":{"renewTime":"2030-01-01T09:00:0%d.000000Z"}}`, i))
		w.as("manager/v1", "POST", "/api/v1/namespaces/default/events", fmt.Sprintf(`{"metadata":{"name":"e%d"},"involvedObject":{"namespace":"default"},"reason":"Synced"}`, i))
		w.as("manager/v1", "PUT", lease+"/lock", `{"metadata":{"name":"lock","resourceVersion":"1"}}`)
		w.as("Mozilla/5.0 (X11; Linux x86_64)", "GET", "/favicon.ico", "")
		w.Clock().Advance(time.Second)
	}
	p := open(t, page(t, w.Server))
	lines := strings.Join(p.lines(), "\n")
	assert.Len(t, p.lines(), 5, lines)
	assert.Contains(t, lines, "manager renewed leases.coordination.k8s.io default/lock 4 times")
	assert.Contains(t, lines, "manager wrote 4 events, from r")
	assert.Contains(t, lines, "(4 times)")
	assert.Contains(t, p.texts("#details")[0], "4 refused requests: 409")
	p.clickLine(p.find("renewed"))
	assert.Equal(t, []string{"fold · 4 times"}, p.texts("#details h2"))
	p.click("#details .link")
	assert.Contains(t, p.texts("#details h2")[0], "patch by manager")
}

func TestClickOnRevision(t *testing.T) {
	p := open(t, page(t, incident(t)))
	id := p.find("spec.replicas 1 → 5")
	p.clickShape(fmt.Sprintf("s.id === %q", id))
	assert.Equal(t, id, p.chosen())
	assert.Equal(t, []string{id + " · patch by scaler"}, p.texts("#details h2"))
	assert.Equal(t, []string{"spec.replicas15", "metadata.generation12"}, p.texts("#details .diff tbody tr"))
	assert.Contains(t, p.texts("#details")[0], "2 of its 3 revisions")
	assert.Equal(t, []string{"managerwatch deployments.appsafter 0 µs", "kubectlget deployments.appsafter 0 µs"}, p.texts("#details h3 + table tr"))
	assert.Equal(t, []string{"true"}, eval[[]string](p, fmt.Sprintf(`[document.getElementById("e-%s").getAttribute("aria-selected")]`, id)))
	assert.Equal(t, 2, p.shapes("ray"), "from the writer and to the watcher")

	p.click("#details .link") // to the revision before
	assert.Equal(t, p.find("create deployments.apps"), p.chosen())
	assert.Contains(t, strings.Join(p.texts("#details .diff .path"), " "), "spec status metadata.creationTimestamp")
	assert.Contains(t, p.texts("#details .diff tbody tr")[0], "selector:\n  matchLabels:\n    app: shop\n", "as YAML")

	p.clickLine(p.find("store configmaps")) // in the list
	assert.Equal(t, 1, p.shapes("ray never"))
	assert.Contains(t, p.texts("#details")[0], "not seen")
	assert.Contains(t, p.texts("#details .diff")[0], "</script><img src=x onerror=boom()>", "escaped")
	assert.Zero(t, p.count("img"))
	assert.Contains(t, p.texts("#details .diff")[0], "lines: |\n  one\n  two")

	p.clickLine(id) // the object at that revision, from the file
	p.click("#details [data-object]")
	p.await(`byId("object").querySelector("pre")`)
	assert.Contains(t, p.texts("#object .yaml")[0], "apiVersion: apps/v1\nkind: Deployment\nmetadata:")
	assert.Contains(t, p.texts("#object .yaml")[0], "replicas: 5")
	assert.Contains(t, p.texts("#object")[0], "1 version behind", "it sees a write after it")
	p.click("#object .version")
	p.await(`byId("object").textContent.includes("replicas: 1")`)
	p.click("#newest")
	p.await(`byId("object").textContent.includes("It does not exist at")`)
	p.click(`[data-resource="configmaps"]`)
	p.await(`byId("table").textContent.includes("settings")`)
	assert.Equal(t, []string{"Events", "Objects", "Findings"}, eval[[]string](p, `[...document.querySelectorAll("[role=tab]")].filter((e) => e.offsetParent).map((e) => e.textContent)`))
}

func TestClickOnOthers(t *testing.T) {
	p := open(t, page(t, incident(t)))
	for words, want := range map[string]string{
		"has been modified":   "409 · update deployments.apps default/shop",
		"history before":      "compaction",
		"1m30s ahead":         "clock",
		"frozen (configmaps)": "lag",
		"when r":              "dashboard · listed r",
		"a fault: ":           "409 · patch deployments.apps default/shop",
		"delete deployments":  "delete by kubectl",
	} {
		p.clickLine(p.find(words))
		assert.Contains(t, p.texts("#details h2")[0], want)
	}
	p.click(`.label[data-reader]`)
	assert.Contains(t, p.texts("#details h2")[0], "manager · watch deployments.apps")
	assert.Contains(t, p.texts("#details")[0], "It has seen every revision of its objects.")
}

func TestKeyboard(t *testing.T) {
	p := open(t, page(t, incident(t)))
	all := eval[[]string](p, `chart.lines.map((e) => e.id)`)
	p.press("ArrowRight")
	assert.Equal(t, all[0], p.chosen())
	p.press("ArrowRight", "ArrowDown")
	assert.Equal(t, all[2], p.chosen())
	p.press("ArrowLeft")
	assert.Equal(t, all[1], p.chosen())
	p.press("End", "ArrowRight")
	assert.Equal(t, all[len(all)-1], p.chosen(), "there is nothing after it")
	p.press("Home")
	assert.Equal(t, all[0], p.chosen())
	assert.Equal(t, "#event="+all[0], eval[string](p, `location.hash`), "by which the page opens there")

	whole := p.view()
	p.press("+", "+")
	assert.InDelta(t, whole.width()*0.36, p.view().width(), 0.01)
	p.press("-")
	assert.InDelta(t, whole.width()*0.6, p.view().width(), 0.01)
	p.press("0")
	assert.Equal(t, whole, p.view())

	p.press("/")
	assert.Equal(t, "name", eval[string](p, `document.activeElement.id`))
	p.press("0")
	assert.Equal(t, "0", eval[string](p, `document.activeElement.value`), "in a field a key is a letter")
	p.press("Escape")
	assert.Equal(t, "chart", eval[string](p, `document.activeElement.id`))
	p.press("Escape")
	assert.Empty(t, p.chosen())
	assert.Contains(t, p.texts("#details h2"), "Summary")
}

// TestAccessible checks that every control can be focused and has a name.
func TestAccessible(t *testing.T) {
	p := open(t, page(t, incident(t)))
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	p.call("Accessibility.getFullAXTree", nil, &tree)
	roles := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		roles[n.Role.Value]++
		switch n.Role.Value {
		case "button", "combobox", "searchbox", "listbox", "option", "image", "region", "search":
			assert.NotEmpty(t, n.Name.Value, n.Role.Value)
		}
	}
	assert.Equal(t, p.count(".event"), roles["option"]-p.count("select option"))
	for _, id := range []string{"client", "resource", "namespace", "verb", "status", "name", "axis", "zoom-out", "zoom-in", "zoom-all", "theme", "chart", "events", "details"} {
		assert.True(t, eval[bool](p, fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.focus(); return document.activeElement === e && e.tabIndex >= 0; })()`, id)), id)
	}
}

func TestZoomAndPan(t *testing.T) {
	p := open(t, page(t, incident(t)))
	whole := p.view()
	at := p.middle("#plot")
	at.Y = p.middle("#labels").Y
	under := func() float64 {
		return eval[float64](p, fmt.Sprintf("chart.placeAt(%f - chart.canvas.getBoundingClientRect().left)", at.X))
	}
	place := under()
	p.mouse("mouseWheel", at, object{"deltaX": 0, "deltaY": -300})
	near := p.view()
	assert.Less(t, near.width(), whole.width())
	assert.InDelta(t, place, under(), 0.01, "what is under the pointer stays there")

	p.drag(at, -100)
	assert.InDelta(t, near.width(), p.view().width(), 0.01)
	assert.Greater(t, p.view().Lo, near.Lo, "dragging to the left shows what is to the right")
	p.mouse("mouseWheel", at, object{"deltaX": -1000, "deltaY": 0})
	assert.Equal(t, whole.Lo, p.view().Lo, "no further than the begin")

	p.click("#zoom-all")
	assert.Equal(t, whole, p.view())
	p.click("#zoom-in")
	assert.InDelta(t, whole.width()/2, p.view().width(), 0.01)
	p.click("#zoom-out")
	assert.Equal(t, whole, p.view())

	p.pinch(at, 40, 160)
	assert.InDelta(t, whole.width()/4, p.view().width(), whole.width()/20)

	p.press("0")
	p.drag(p.middle("#overview"), 0)
	assert.Equal(t, whole, p.view(), "the whole has nowhere to go")
	p.press("+", "+")
	begin := eval[point](p, `(({ x, y, height }) => ({ X: x + 3, Y: y + height / 2 }))(byId("overview").getBoundingClientRect())`)
	p.drag(begin, 0)
	assert.Equal(t, whole.Lo, p.view().Lo, "a click in the overview goes there")
	p.drag(begin, eval[float64](p, `chart.width`))
	assert.Equal(t, whole.Hi, p.view().Hi, "and dragging there")
}

// pinch moves two fingers from one distance to another.
func (p *tab) pinch(at point, from, to float64) {
	p.t.Helper()
	touch := func(kind string, apart ...float64) {
		points := []object{}
		for _, d := range apart {
			points = append(points, object{"x": at.X - d/2, "y": at.Y, "id": 1}, object{"x": at.X + d/2, "y": at.Y, "id": 2})
		}
		p.call("Input.dispatchTouchEvent", object{"type": kind, "touchPoints": points}, nil)
	}
	p.call("Emulation.setTouchEmulationEnabled", object{"enabled": true, "maxTouchPoints": 2}, nil)
	touch("touchStart", from)
	for i := 1.0; i <= 10; i++ {
		touch("touchMove", from+(to-from)*i/10)
	}
	touch("touchEnd")
	p.waitForDraw()
}

// pick sets a filter, or another field of a form.
func (p *tab) pick(id, value string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input", { bubbles: true })); return true; })()`, id, value))
	p.waitForDraw()
}

func TestFilter(t *testing.T) {
	p := open(t, page(t, incident(t)))
	all := len(p.lines())
	p.pick("resource", "configmaps")
	lines := strings.Join(p.lines(), "\n")
	assert.Contains(t, lines, "store configmaps")
	assert.Contains(t, lines, "history before", "what is about no one object stays")
	assert.NotContains(t, lines, "deployments")
	labels := strings.Join(p.texts(".label"), "\n")
	assert.Contains(t, labels, "watch configmaps")
	assert.NotContains(t, labels, "watch deployments.apps")
	assert.NotContains(t, labels, "scaler")

	p.pick("resource", "")
	p.pick("name", "sho")
	lines = strings.Join(p.lines(), "\n")
	assert.Contains(t, lines, "spec.replicas 1 → 5")
	assert.NotContains(t, lines, "store configmaps")
	p.pick("name", "")
	p.pick("namespace", "default")
	assert.Len(t, p.lines(), all)
	p.pick("name", "no such name")
	assert.NotContains(t, strings.Join(p.lines(), "\n"), "spec.replicas")
}

func TestTimeAxis(t *testing.T) {
	p := open(t, page(t, incident(t)))
	eval[bool](p, `(() => { const e = document.getElementById("axis"); e.value = "time"; e.dispatchEvent(new Event("change")); return true; })()`)
	p.waitForDraw()
	assert.InDelta(t, 90_000, p.view().width(), 5000, "in milliseconds")
	assert.Contains(t, eval[[]string](p, `chart.ticks.map((t) => t.text)`), "+1m 30.000s")
}

// TestThemes checks that both themes have the contrast that WCAG requires for text.
//
// See https://www.w3.org/TR/WCAG22/#contrast-minimum.
func TestThemes(t *testing.T) {
	p := open(t, page(t, incident(t)))
	for _, theme := range []string{"light", "dark"} {
		p.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": theme}}}, nil)
		p.waitForDraw()
		assert.Equal(t, theme, eval[string](p, `document.documentElement.dataset.theme`), "as the system has it")
		low := eval[[]string](p, `(() => {
			const style = getComputedStyle(document.documentElement);
			const color = (name) => {
				const hex = style.getPropertyValue(name).trim().slice(1);
				return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
			};
			const light = (rgb) => {
				const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const low = [];
			const check = (text, ground, on) => {
				const [a, b] = [light(color(text)), light(on)].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
				if (contrast < 4.5) low.push(text + " on " + ground + ": " + contrast.toFixed(2));
			};
			for (const text of ["--text", "--soft", "--link", "--added", "--modified", "--deleted", "--refused", "--late", "--note"]) {
				for (const ground of ["--card", "--page", "--chosen", "--stripe"]) check(text, ground, color(ground));
			}
			// The texts of the chart on what is half transparent.
			const half = [...Object.values(tones).map((name) => [name, clusterAlpha]), [looks.span.fill, looks.span.alpha], [looks.settle.fill, looks.settle.alpha]];
			for (const [name, alpha] of half) {
				for (const ground of ["--card", "--stripe"]) check("--text", name + " over " + ground, color(name).map((c, i) => alpha * c + (1 - alpha) * color(ground)[i]));
			}
			return low;
		})()`)
		assert.Empty(t, low, theme)
	}
	p.click("#theme")
	assert.Equal(t, "light", eval[string](p, `document.documentElement.dataset.theme`))
}

func TestEmptyStory(t *testing.T) {
	p := open(t, page(t, start(t).Server))
	assert.Equal(t, []string{"Nothing has happened yet."}, p.texts("#omitted"))
	assert.Contains(t, p.texts("#details")[0], "Every watcher has seen every revision")
	p.press("ArrowRight", "+", "0", "End", "Escape")
}

// TestLargeStory checks that the page draws a part of a large story, initially the end.
func TestLargeStory(t *testing.T) {
	w := start(t)
	for range 20 {
		w.watch("manager/v1", "/api/v1/configmaps")
	}
	for i := range 2500 {
		_, err := w.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("c-%d", i%50), "namespace": "default"}, "data": map[string]any{"i": fmt.Sprint(i)}})
		require.NoError(t, err)
	}
	p := open(t, page(t, w.Server))
	assert.Len(t, p.lines(), 2000)
	assert.Less(t, p.count(".event"), 100, "only the lines in view are in the document")
	assert.Contains(t, p.texts("#omitted")[0], "500 earlier revisions are not shown.")
	assert.Equal(t, []string{"500", "451", "499"}, eval[[]string](p, `["c-0", "c-1", "c-49"].map((name) => source.all(source.first).find((o) => o.name === name).object.data.i)`), "objects that are older than the story")
	newest := fmt.Sprintf("r%d", w.Revision())
	assert.Equal(t, 2, p.marks(newest), "the end is in view")
	p.press("0")
	assert.Less(t, eval[int](p, `chart.shapes.length`), 3000, "with all in view")
	p.clickShape(`s.shape === "cluster"`)
	assert.Less(t, p.view().width(), 2000.0, "a click on many marks goes there")
	p.press("End")
	assert.Equal(t, newest, p.chosen())
	assert.NotZero(t, p.marks(newest), "what is chosen is brought into view")
}

// TestLinkToEvent checks that the fragment of the URL selects an event.
func TestLinkToEvent(t *testing.T) {
	srv := incident(t)
	p := open(t, page(t, srv)+fmt.Sprintf("#event=r%d", srv.Revision()))
	assert.Equal(t, fmt.Sprintf("r%d", srv.Revision()), p.chosen())
	p = open(t, page(t, srv)+"#event=nothing")
	assert.Empty(t, p.chosen())
}

// TestPolicy checks that the pages of the control endpoint work under their policies, which
// forbid scripts and styles of others. A violation is an entry in the log of the page, which
// fails the test.
func TestPolicy(t *testing.T) {
	srv := fakeapi.Start(t)
	_, err := srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "default"}})
	require.NoError(t, err)
	inject := `(() => {
		document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.broken = true"><p id="styled" style="color: red">');
		return new Promise((done) => setTimeout(() => done(Boolean(window.broken)), 100));
	})()`
	for _, path := range []string{"/debug/fakeapi/story", "/debug/fakeapi/"} {
		t.Run(path, func(t *testing.T) {
			p := openTab(t, srv.URL+path, srv.URL+"/debug/fakeapi/")
			p.await(`document.querySelector(".event")`)
			assert.Contains(t, strings.Join(p.texts(".event"), "\n"), "store configmaps default/a")
			p.mu.Lock()
			assert.Empty(t, p.troubles)
			p.mu.Unlock()
			assert.False(t, eval[bool](p, inject), "an inline handler does not run")
			assert.NotEqual(t, "rgb(255, 0, 0)", eval[string](p, `getComputedStyle(document.getElementById("styled")).color`))
			p.mu.Lock()
			assert.NotEmpty(t, p.troubles, "the browser reports the violations")
			p.troubles = nil
			p.mu.Unlock()
		})
	}
}

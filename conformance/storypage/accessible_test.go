package storypage

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// eachView calls f with each view of the page: the panes of a server of which each has something to show,
// and those of the story of a test.
func eachView(t *testing.T, f func(t *testing.T, p *tab)) {
	w := rollout(t)
	for range 12 {
		w.as("poller/v1", "GET", deployments+"/shop", "")
	}
	_, err := w.Inject(faults.Fault{Verb: "delete", Resource: "deployments.apps", Code: 409, Times: 1})
	require.NoError(t, err)
	w.as("kubectl/v1", "DELETE", deployments+"/shop", "")
	w.as("kubectl/v1", "DELETE", "/api/v1/namespaces/default/secrets/none", "")
	dir, shown := filepath.Join(t.TempDir(), "plans"), make(chan struct{})
	close(shown)
	_, err = explore.Search(t.Context(), forgetful(dir, shown))
	require.NoError(t, err)
	explore.Show(w.Server, dir)
	live := openLive(w, "")
	for _, v := range []struct {
		name, ready string
		act         func()
	}{
		{"events", `document.querySelector(".event")`, func() { live.press("Escape") }},
		{"details", `document.querySelector("#details .diff")`, func() { live.clickLine(live.find("spec.replicas 1 → 2")) }},
		{"objects", `byId("object").querySelector("pre")`, func() {
			live.click("#tab-objects")
			live.await(`document.querySelector('[data-resource="deployments.apps"]')`)
			live.click(`[data-resource="deployments.apps"]`)
			live.await(`byId("table").textContent.includes("shop")`)
			live.click("#table [data-object]")
		}},
		{"actions", `document.querySelector("[data-action=fork] .result a") && document.querySelector("[data-action=clock] .never")`, func() {
			live.click("#tab-actions")
			live.await(`byId("known-resources").options.length`)
			live.click("[data-download='fake.kubeconfig']")
			live.submit("fork", nil)
			live.submit("clock", map[string]string{"advance": "soon"})
			live.forgive("400 (Bad Request)")
		}},
		{"findings", `!byId("roles").hidden`, func() {
			live.click("#tab-findings")
			live.await(`document.querySelector("[data-count]")`)
			live.click("[data-count]")
			live.await(`byId("findings").textContent.includes("since the server counts")`)
			w.as("poller/v1", "GET", deployments+"/shop", "")
			live.await(`(panes.findings.read(), byId("findings").querySelector("[data-roles]"))`)
			live.click("[data-roles]")
		}},
		{"explore", `byId("explore").querySelector(".finding a")`, func() { live.click("#tab-explore") }},
	} {
		t.Run(v.name, func(t *testing.T) {
			v.act()
			live.await(v.ready)
			f(t, live)
		})
	}
	t.Run("story", func(t *testing.T) {
		p := open(t, page(t, incident(t)))
		f(t, p)
		p.clickLine(p.find("spec.replicas 1 → 5"))
		p.click("#details [data-object]")
		p.await(`byId("object").querySelector("pre")`)
		f(t, p)
		p.click("#tab-findings")
		p.await(`byId("findings").querySelector("[data-rule]")`)
		f(t, p)
	})
}

func TestViews(t *testing.T) {
	eachView(t, func(t *testing.T, p *tab) {
		checkNames(t, p)
		checkContrast(t, p)
		checkTab(t, p)
		checkNarrow(t, p)
	})
}

// checkNames checks that everything that can have the focus, and each landmark, picture and column has a name for
// screen readers.
func checkNames(t *testing.T, p *tab) {
	named := []string{"region", "form", "search", "navigation", "tabpanel", "tablist", "image", "meter", "progressbar", "columnheader", "slider", "tab", "listbox", "option"}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
			Properties []struct {
				Name  string
				Value struct{ Value any }
			}
			BackendDOMNodeID int
		}
	}
	p.call("Accessibility.getFullAXTree", nil, &tree)
	count := 0
	for _, n := range tree.Nodes {
		control := slices.Contains(named, n.Role.Value)
		for _, property := range n.Properties {
			control = control || property.Name == "focusable" && property.Value.Value == true
		}
		if n.Ignored || !control {
			continue
		}
		count++
		if n.Name.Value == "" {
			var dom struct{ OuterHTML string }
			p.call("DOM.getOuterHTML", object{"backendNodeId": n.BackendDOMNodeID}, &dom)
			t.Errorf("a %s has no name: %.200s", n.Role.Value, dom.OuterHTML)
		}
	}
	assert.Greater(t, count, 20)
}

// checkTab checks that the Tab key reaches every control, and that the one with the focus is seen to have it.
func checkTab(t *testing.T, p *tab) {
	count := eval[int](p, `(() => {
		const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0;
		window.left = new Set([...document.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex]")].filter(seen));
		window.invisible = [];
		document.activeElement.blur();
		return left.size;
	})()`)
	require.Greater(t, count, 15)
	for range count + 10 {
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			p.call("Input.dispatchKeyEvent", object{"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
		}
		done := eval[bool](p, `(() => {
			const e = document.activeElement, style = getComputedStyle(e);
			if (left.delete(e) && !(style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2)) invisible.push(e.outerHTML.slice(0, 200));
			return !left.size;
		})()`)
		if done {
			break
		}
	}
	assert.Empty(t, eval[[]string](p, `[...left].map((e) => e.outerHTML.slice(0, 200))`), "not reached")
	assert.Empty(t, eval[[]string](p, `invisible`), "without a visible focus")
}

// TestTabs checks the keys of the tabs.
//
// See https://www.w3.org/WAI/ARIA/apg/patterns/tabs/.
func TestTabs(t *testing.T) {
	for name, last := range map[string]string{"live": "explore", "story": "findings"} {
		t.Run(name, func(t *testing.T) {
			var p *tab
			if name == "live" {
				p = openLive(rollout(t), "")
			} else {
				p = open(t, page(t, incident(t)))
			}
			p.click("#tab-events")
			for _, step := range []struct{ key, pane string }{{"ArrowLeft", last}, {"ArrowRight", "events"}, {"End", last}, {"Home", "events"}, {"ArrowRight", "objects"}} {
				p.press(step.key)
				assert.Equal(t, []string{"tab-" + step.pane, "true", "false"}, eval[[]string](p, fmt.Sprintf(
					`[document.activeElement.id, document.activeElement.ariaSelected, String(byId("pane-%s").hidden)]`, step.pane)), step.key)
			}
		})
	}
}

// checkContrast checks that each text of each view has the contrast that WCAG requires, in both themes.
//
// See https://www.w3.org/TR/WCAG22/#contrast-minimum.
func checkContrast(t *testing.T, p *tab) {
	for _, theme := range []string{"light", "dark"} {
		low := eval[[]string](p, fmt.Sprintf(`(async () => {
			setTheme(%q);
			await Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {})));
			const g = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
			// on returns the colours of a text and of what is behind it.
			const on = (e) => {
				const grounds = [];
				for (let at = e; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
				const pixel = (colors) => {
					g.fillStyle = "white";
					for (const c of colors) {
						g.fillStyle = c;
						g.fillRect(0, 0, 1, 1);
					}
					return [...g.getImageData(0, 0, 1, 1).data.slice(0, 3)];
				};
				return [pixel([...grounds, getComputedStyle(e).color]), pixel(grounds)];
			};
			const light = (rgb) => {
				const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const low = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			let n = 0;
			while (texts.nextNode()) {
				const e = texts.currentNode.parentElement;
				if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest("script, option, datalist")) continue;
				n++;
				const [a, b] = on(e).map(light).sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
				if (contrast < 4.5) low.add(e.tagName + "." + e.className + " " + e.textContent.slice(0, 40) + ": " + contrast.toFixed(2));
			}
			if (n < 30) low.add("only " + n + " texts");
			return [...low];
		})()`, theme))
		assert.Empty(t, low, theme)
	}
}

// checkNarrow checks that each view fits into a narrow window, and that the page scrolls to an object that is opened.
func checkNarrow(t *testing.T, p *tab) {
	for _, width := range []int{480, 320} {
		p.resize(width, 800)
		assert.Equal(t, width, eval[int](p, `document.documentElement.scrollWidth`), "nothing is beside the window")
		assert.Empty(t, eval[[]string](p, `[...document.querySelectorAll("button:not(.link), input, select, textarea")].filter((e) => e.checkVisibility() && !e.closest("#resources, #table"))
			.filter((e) => { const b = e.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth; }).map((e) => e.outerHTML.slice(0, 100))`), "controls")
	}
	if p.count("#table [data-object]") > 0 && eval[string](p, `pane`) == "objects" {
		eval[bool](p, `(scrollTo(0, 0), true)`)
		p.click("#table [data-object]")
		p.await(`!panes.objects.opened`)
		assert.Less(t, eval[float64](p, `byId("object").getBoundingClientRect().top`), 400.0)
	}
	p.call("Emulation.clearDeviceMetricsOverride", nil, nil)
	p.waitForDraw()
}

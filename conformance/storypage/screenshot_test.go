package storypage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// picture writes a picture of the page into the directory that SCREENSHOTS names.
func (p *tab) picture(name string, width, height int) {
	p.t.Helper()
	p.resize(width, height)
	p.mouse("mouseMoved", point{1, 1}, nil)
	p.waitForDraw()
	p.waitForDraw()
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", object{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(p.t, err)
	data, err = small(data)
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(os.Getenv("SCREENSHOTS"), name+".png"), data, 0o600))
}

// resize sets the size of the window.
func (p *tab) resize(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	p.waitForDraw()
}

// small returns a picture with at most 256 colours: those that it has most of, without those that look
// like others.
func small(in []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(in))
	if err != nil {
		return nil, err
	}
	counts := map[color.Color]int{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			counts[img.At(x, y)]++
		}
	}
	var all color.Palette
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.Color) int { return counts[b] - counts[a] })
	var palette color.Palette
	for _, c := range all {
		if len(palette) < 256 && (len(palette) == 0 || differ(c, palette.Convert(c))) {
			palette = append(palette, c)
		}
	}
	out := image.NewPaletted(b, palette)
	nearest := map[color.Color]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := img.At(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(out.Palette.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	var w bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err = e.Encode(&w, out)
	return w.Bytes(), err
}

// differ reports whether two colours look different.
func differ(a, b color.Color) bool {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > 5<<8 }
	return far(ar, br) || far(ag, bg) || far(ab, bb)
}

// both writes a picture for a wide window and one for a narrow one, which shows an element at its top.
func (p *tab) both(name, top string) {
	p.t.Helper()
	p.picture(name, 1280, 800)
	p.resize(480, 900)
	eval[bool](p, fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({ block: "start" }), true)`, top))
	p.picture(name+"-narrow", 480, 900)
}

// TestPictures writes the pictures of docs/page.md.
func TestPictures(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("SCREENSHOTS does not name a directory")
	}
	p := staleCache(t, "")
	p.await(`details.textContent.includes("Every watcher has seen every revision")`)
	p.picture("stalecache-1", 1200, 820)
	writes := p.podCreates()
	require.GreaterOrEqual(t, len(writes), 6)
	p.clickLine(writes[3])
	p.picture("stalecache-2", 1200, 900)
	p.click("#details [data-object]")
	p.await(`byId("object").querySelector("pre")`)
	p.picture("stalecache-3", 1200, 900)

	w := rollout(t)
	for range 12 {
		w.as("poller/v1", "GET", deployments+"/shop", "")
	}
	w.as("kubectl/v1", "DELETE", "/api/v1/namespaces/default/secrets/none", "")
	_, err := w.Inject(faults.Fault{Verb: "delete", Resource: "deployments.apps", Code: 409, Times: 1})
	require.NoError(t, err)
	w.as("kubectl/v1", "GET", deployments+"/shop", "")
	w.as("kubectl/v1", "DELETE", deployments+"/shop", "")
	p = openLive(w, "")
	p.both("timeline", "header")
	p.clickLine(p.find("spec.replicas 1 → 2"))
	p.both("details", "#tabs")
	p.click("#tab-objects")
	p.await(`document.querySelector('[data-resource="pods"]')`)
	p.click(`[data-resource="pods"]`)
	p.await(`byId("table").textContent.includes("0/1")`)
	p.both("table", "header")
	p.click(`[data-resource="deployments.apps"]`)
	p.await(`byId("table").textContent.includes("shop")`)
	p.click(`#table [data-object]`)
	p.await(`byId("object").querySelector("pre")`)
	p.both("object", "#object")
	p.click("#tab-actions")
	p.await(`byId("known-resources").options.length`)
	p.both("actions", "header")
	p.click("#tab-findings")
	p.await(`byId("findings").querySelector("[data-rule]")`)
	p.both("findings", "header")
	t.Chdir(t.TempDir()) // the page shows the name of the directory
	shown := make(chan struct{})
	close(shown)
	_, err = explore.Search(t.Context(), forgetful("plans", shown))
	require.NoError(t, err)
	explore.Show(w.Server, "plans")
	p.click("#tab-explore")
	p.await(`byId("explore").querySelector(".finding")`)
	p.both("explore", "#tabs")
	p.click("#theme")
	p.click("#tab-events")
	p.both("dark", "header")
	p = open(t, page(t, incident(t)))
	p.clickLine(p.find("store configmaps"))
	p.both("story", "header")
}

package storypage

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture writes a picture of the page into the directory that SCREENSHOTS names. It does nothing if that
// is not set.
func (p *tab) picture(name string, width, height int) {
	p.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	p.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	p.waitForDraw()
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", object{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}

func TestPictures(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("SCREENSHOTS does not name a directory")
	}
	p := open(t, page(t, incident(t)))
	p.clickLine(p.find("spec.replicas 1 → 5"))
	p.picture("story", 1280, 860)
}

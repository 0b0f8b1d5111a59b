package storypage

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// forgetful returns a system that creates a ConfigMap each time it starts. Its fifth start waits for shown.
func forgetful(dir string, shown <-chan struct{}) explore.System {
	var starts atomic.Int64
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			if starts.Add(1) == 5 {
				<-shown
			}
			resp, err := srv.Client().Post(srv.URL+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(`{"metadata":{"generateName":"copy-"}}`))
			if err == nil {
				resp.Body.Close()
			}
			<-ctx.Done()
			return nil
		},
		Workload: explore.Steps(50*time.Millisecond, func(srv *fakeapi.Server) error {
			_, err := srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "default"}})
			return err
		}),
		Pace: explore.Pace{Quiet: 100 * time.Millisecond, Hold: 50 * time.Millisecond, Restart: 10 * time.Millisecond, Limit: 5 * time.Second},
		Dir:  dir, Record: true, All: true, For: time.Hour, Plans: 5, Repeat: 1,
	}
}

// TestExplore checks that the page shows a search while it runs, and what it has found.
func TestExplore(t *testing.T) {
	w := serve(t)
	p := openLive(w, "")
	p.click("#tab-explore")
	p.await(`byId("explore").textContent.includes("This server shows no search")`)

	dir := filepath.Join(t.TempDir(), "plans")
	explore.Show(w.Server, dir)
	p = openLive(w, "#pane=explore")
	p.await(`byId("explore").textContent.includes("No search has written anything there yet.")`)
	assert.Equal(t, []string{"curl " + w.URL + "/debug/fakeapi/explore\nfakeapi explore merge " + dir}, p.texts("#explore .curl"))
	assert.Equal(t, []string{`explore.Merge("` + dir + `")`}, p.texts("#explore .go"))

	type result struct {
		report *explore.Report
		err    error
	}
	shown, ended := make(chan struct{}), make(chan result, 1)
	go func() {
		r, err := explore.Search(context.Background(), forgetful(dir, shown))
		ended <- result{r, err}
	}()
	p.await(`document.querySelector("#explore progress")`)
	assert.Contains(t, p.texts(".running")[0], "plans with one decision, after")
	close(shown)
	r := <-ended
	require.NoError(t, r.err)
	require.NotEmpty(t, r.report.Findings)
	p.await(`!document.querySelector("#explore progress") && document.querySelector("#explore .finding a")`)
	text := p.texts("#explore .system")[0]
	for _, want := range []string{"1 ended search", "end-state", "crash-after at the 1st create of configmaps", "crash-afterwrite1 of 1", "the reference run has 1 write"} {
		assert.Contains(t, text, want)
	}

	story := openTab(t, eval[string](p, `document.querySelector("#explore .finding a").href`), w.URL+"/debug/fakeapi/")
	assert.Equal(t, "false", eval[string](story, `document.body.dataset.live`), "it is a story, of no server")
	story.find("create configmaps")
	resp, err := http.Get(w.URL + "/debug/fakeapi/explore/story?name=../other.html")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusNotFound, resp.StatusCode, "it shows stories of findings only")
}

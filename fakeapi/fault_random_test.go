//go:build go1.25

package fakeapi_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// randomFault returns a random fault of ConfigMaps. It can be invalid.
func randomFault(r *rand.Rand) faults.Fault {
	rarely := func() bool { return r.IntN(4) == 0 }
	f := faults.Fault{Resource: "configmaps", Skip: r.IntN(2), Times: r.IntN(3), Seed: r.Uint64()}
	if rarely() {
		f.Probability = r.Float64()
	}
	if rarely() {
		f.Lifetime = time.Duration(r.IntN(60)) * time.Second
	}
	if rarely() {
		f.Verb = []string{"get", "list", "create", "update", "watch", "*e"}[r.IntN(6)]
	}
	if r.IntN(2) == 0 {
		f.Watch = []faults.WatchEffect{"", faults.CloseWatch, faults.ResetWatch, faults.ExpireWatch, faults.PauseWatch}[r.IntN(5)]
		f.Watches = []faults.WatchSelection{"", faults.OpenWatches, faults.NewWatches}[r.IntN(3)]
		f.AfterEvents = r.IntN(3)
		f.EventDelay = time.Duration(r.IntN(3)) * time.Second
		f.EventRate = float64(r.IntN(3))
		f.WithholdBookmarks = rarely()
		return f
	}
	f.Delay = time.Duration(r.IntN(3)) * time.Second
	f.ServeFirst = rarely()
	switch r.IntN(4) {
	case 0:
		f.Code = 400 + r.IntN(200)
	case 1:
		f.Reset = true
	case 2:
		f.CutAfterBytes = 1 + r.IntN(300)
	case 3:
		f.ExpireContinue = true
	}
	return f
}

// After all faults are removed, requests and watches work again, and no goroutine is
// left: the bubble would report it.
func TestRandomFaults(t *testing.T) {
	hits := 0
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
			client := &http.Client{Transport: srv.Transport(), Timeout: time.Minute}
			for range 40 {
				if r.IntN(3) == 0 {
					if _, err := srv.Inject(randomFault(r)); err != nil {
						assert.ErrorIs(t, err, faults.ErrInvalid)
					}
				}
				askAny(client, srv.URL, r)
				time.Sleep(time.Duration(r.IntN(3)) * time.Second)
			}
			for _, f := range srv.Injections() {
				hits += f.Hits()
				f.Remove()
			}
			code, _ := apitest.Do(t, srv, "GET", apitest.ConfigMapsPath+"/a", "")
			require.Equal(t, http.StatusOK, code, "seed %d", seed)
			w := watch(t, srv, "fieldSelector=metadata.name%3Da&resourceVersion=0")
			w.expect("ADDED")
			apitest.Put(t, srv, apitest.ConfigMap("a", "new"))
			require.Equal(t, map[string]any{"key": "new"}, w.expect("MODIFIED")["data"], "seed %d", seed)
			w.body.Close()
		})
	}
	assert.Greater(t, hits, 1000)
}

// askAny makes a random request for ConfigMaps. A watch runs in the background for
// up to a minute.
func askAny(client *http.Client, url string, r *rand.Rand) {
	do := func(method, path, body string) {
		req, err := http.NewRequest(method, url+apitest.ConfigMapsPath+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := client.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	switch r.IntN(5) {
	case 0:
		go do("GET", "?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "")
	case 1:
		do("GET", "?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9", "")
	case 2:
		do("PUT", "/a", `{"metadata":{"name":"a"}}`)
	case 3:
		do("POST", "", `{"metadata":{"generateName":"more-"}}`)
	case 4:
		do("GET", "/a", "")
	}
}

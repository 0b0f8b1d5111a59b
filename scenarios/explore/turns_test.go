package explore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// Two goroutines of a system follow two watches. They see what is written at the same time
// in the order of the writes, in every run.
func TestDeliveriesTakeTurns(t *testing.T) {
	needsBubble(t)
	const each = 10
	var want []string
	write := func(srv *fakeapi.Server) error {
		for i := range each {
			for _, kind := range []string{"ConfigMap", "Secret"} {
				_, err := srv.Store(map[string]any{
					"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": "default", "name": strings.ToLower(fmt.Sprint(kind, i))},
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range each {
		want = append(want, fmt.Sprint("configmap", i), fmt.Sprint("secret", i))
	}

	runs, differ := 0, 0
	start := func(ctx context.Context, srv *fakeapi.Server) error {
		var mu sync.Mutex
		var seen []string
		var watches sync.WaitGroup
		for _, resource := range []string{"configmaps", "secrets"} {
			watches.Add(1)
			go func() {
				defer watches.Done()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v1/namespaces/default/"+resource+"?watch=1", nil)
				if err != nil {
					return
				}
				resp, err := srv.Client().Do(r)
				if err != nil {
					return
				}
				defer resp.Body.Close()
				for events := json.NewDecoder(resp.Body); ; {
					var e struct{ Object fakeapi.Object }
					if events.Decode(&e) != nil {
						return
					}
					mu.Lock()
					seen = append(seen, e.Object.Name())
					mu.Unlock()
				}
			}()
		}
		watches.Wait()
		runs++
		if !slices.Equal(want, seen) {
			differ++
		}
		return nil
	}
	explore.Find(t, explore.System{
		Start: start, Workload: explore.Steps(5*time.Second, write), Dir: t.TempDir(),
		Actions: []explore.Action{explore.Conflict}, // it writes nothing: the reference run is made twice
	})
	assert.Equal(t, 2, runs)
	assert.Zero(t, differ, "of %d runs", runs)
}

// Goroutines of a system make requests at the same time. They are served in the same order in
// every run.
func TestRequestsTakeTurns(t *testing.T) {
	needsBubble(t)
	const clients = 20
	var runs [][]string
	start := func(ctx context.Context, srv *fakeapi.Server) error {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				body := fmt.Sprintf(`{"metadata":{"name":"settings-%02d"}}`, i)
				_ = post(ctx, srv, "/api/v1/namespaces/default/configmaps?fieldManager="+strings.Repeat("x", i+1), body)
			}()
		}
		wg.Wait()
		var order []string
		for _, w := range srv.Writes(0) {
			if strings.HasPrefix(w.Changes[0].Name, "settings-") {
				order = append(order, w.Changes[0].Name)
			}
		}
		runs = append(runs, order)
		<-ctx.Done()
		return nil
	}
	explore.Find(t, explore.System{
		Start: start, Workload: explore.Steps(5 * time.Second), Dir: t.TempDir(),
		Actions: []explore.Action{explore.Conflict}, // no point for it: the reference run is made twice
	})
	require.Len(t, runs, 2)
	assert.Len(t, runs[0], clients)
	assert.True(t, slices.IsSorted(runs[0]), "%v", runs[0])
	assert.Equal(t, runs[0], runs[1])
}

// A goroutine of a system waits for a mutex that another one holds while it makes a request.
func TestMutexAcrossRequest(t *testing.T) {
	needsBubble(t)
	start := func(ctx context.Context, srv *fakeapi.Server) error {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				mu.Lock()
				defer mu.Unlock()
				_ = post(ctx, srv, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"settings"}}`)
			}()
		}
		wg.Wait()
		<-ctx.Done()
		return nil
	}
	r := explore.Find(t, explore.System{
		Start: start, Workload: explore.Steps(5 * time.Second), Dir: t.TempDir(),
		Actions: []explore.Action{explore.Conflict}, Unordered: true,
	})
	require.NotNil(t, r)
	assert.Empty(t, r.Findings)
}

// post sends a request to create an object.
func post(ctx context.Context, srv *fakeapi.Server, path, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := srv.Client().Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

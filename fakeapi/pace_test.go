//go:build go1.25

package fakeapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A deletion that marks a Pod and then removes it waits in between: clients can read the
// marked Pod. On a manual clock it does not wait.
func TestPace(t *testing.T) {
	const (
		pods = "/api/v1/namespaces/default/pods"
		pace = 10 * time.Millisecond
	)
	for _, row := range []struct {
		name, method, path, body string
		options                  []fakeapi.Option
		want                     time.Duration // that the request takes
	}{
		{"deletion", "DELETE", pods + "/a", "", []fakeapi.Option{fakeapi.WithPace(pace)}, pace},
		{"collection", "DELETE", pods, "", []fakeapi.Option{fakeapi.WithPace(pace)}, pace},
		{"eviction", "POST", pods + "/a/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}}`, []fakeapi.Option{fakeapi.WithPace(pace)}, pace},
		{"dry run", "DELETE", pods + "/a?dryRun=All", "", []fakeapi.Option{fakeapi.WithPace(pace)}, 0},
		{"no pace", "DELETE", pods + "/a", "", nil, 0},
		{"manual clock", "DELETE", pods + "/a", "", []fakeapi.Option{fakeapi.WithPace(pace), fakeapi.WithManualClock(time.Now())}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, append(row.options, fakeapi.WithInMemory())...)
				code, _ := apitest.Do(t, srv, "POST", pods, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
				require.Equal(t, http.StatusCreated, code)
				began, took := time.Now(), make(chan time.Duration)
				go func() {
					code, _ := apitest.Do(t, srv, row.method, row.path, row.body)
					assert.Less(t, code, 300)
					took <- time.Since(began)
				}()
				synctest.Wait()
				if row.want > 0 {
					code, pod := apitest.Do(t, srv, "GET", pods+"/a", "")
					assert.Equal(t, http.StatusOK, code)
					assert.NotEmpty(t, pod["metadata"].(map[string]any)["deletionTimestamp"])
				}
				assert.Equal(t, row.want, <-took)
			})
		})
	}
}

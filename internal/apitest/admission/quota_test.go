//go:build go1.25

package admission_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

const (
	quotasPath = "/api/v1/namespaces/default/resourcequotas"
)

// quota creates a ResourceQuota for ConfigMaps whose status has no use.
func quota(t testing.TB, srv *fakeapi.Server, name string, configMaps int) {
	t.Helper()
	hard := fmt.Sprintf(`{"configmaps":"%d"}`, configMaps)
	code, _ := apitest.Do(t, srv, "POST", quotasPath, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"hard":%s}}`, name, hard))
	require.Equal(t, http.StatusCreated, code)
	code, _ = apitest.Do(t, srv, "PUT", quotasPath+"/"+name+"/status", fmt.Sprintf(`{"metadata":{"name":%q},"status":{"hard":%s,"used":{"configmaps":"0"}}}`, name, hard))
	require.Equal(t, http.StatusOK, code)
}

// used returns the status.used of a ResourceQuota.
func used(t testing.TB, srv *fakeapi.Server, name string) any {
	t.Helper()
	_, q := apitest.Do(t, srv, "GET", quotasPath+"/"+name, "")
	status, _ := q["status"].(map[string]any)
	return status["used"]
}

func TestQuotaUse(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, _ := apitest.Do(t, srv, "POST", quotasPath, `{"metadata":{"name":"new"},"spec":{"hard":{"configmaps":"0"}}}`)
	require.Equal(t, http.StatusCreated, code)
	code, _ = apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"free"}}`)
	assert.Equal(t, http.StatusCreated, code, "a quota without a status limits nothing")

	quota(t, srv, "small", 1)
	quota(t, srv, "large", 9)
	code, _ = apitest.Do(t, srv, "POST", apitest.ConfigMapsPath+"?dryRun=All", `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusCreated, code)
	assert.Equal(t, map[string]any{"configmaps": "0"}, used(t, srv, "small"), "a dry run does not count")
	code, _ = apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusCreated, code)
	code, st := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"b"}}`)
	assert.Equal(t, http.StatusForbidden, code)
	assert.Equal(t, `configmaps "b" is forbidden: exceeded quota: small, requested: configmaps=1, used: configmaps=1, limited: configmaps=1`, st["message"])
	assert.Equal(t, map[string]any{"configmaps": "1"}, used(t, srv, "small"))
	assert.Equal(t, map[string]any{"configmaps": "1"}, used(t, srv, "large"), "a refused request does not count")
}

// Concurrent creates do not exceed a quota.
func TestQuotaWithConcurrentWrites(t *testing.T) {
	const writers, allowed = 16, 5
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	quota(t, srv, "q", allowed)
	var created atomic.Int32
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if code, _ := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, fmt.Sprintf(`{"metadata":{"name":"c%d"}}`, i)); code == http.StatusCreated {
				created.Add(1)
			}
		})
	}
	all.Wait()
	assert.Equal(t, int32(allowed), created.Load())
	assert.Equal(t, map[string]any{"configmaps": "5"}, used(t, srv, "q"))
}

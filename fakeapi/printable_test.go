//go:build go1.25

package fakeapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// What a failed test logs has no byte that a terminal acts on, whatever names, data, messages
// and headers have.
func TestLogsArePrintable(t *testing.T) {
	const hostile = "\x1b]0;title\a\x1b[2J\rbegin\u009b31m\u202e\u2066\u2028\u200b\x7fend"
	quoted, err := json.Marshal(hostile + "\nline")
	require.NoError(t, err)
	srv := fakeapi.Start(t)
	send := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header["User-Agent"] = []string{"agent\u009b31m\u202e\xff"}
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	const configMaps = "/api/v1/namespaces/default/configmaps"
	injection, err := srv.Inject(faults.Fault{Resource: "secrets", Name: hostile, UserAgent: hostile, Code: 409, Message: hostile})
	require.NoError(t, err)
	conflict, err := srv.Inject(faults.Fault{Resource: "services", Code: 409, Message: hostile + "\nline"})
	require.NoError(t, err)
	send("POST", configMaps, `{"metadata":{"name":"a"}}`)
	change := func() {
		for _, value := range []string{`""`, string(quoted), `""`, string(quoted)} {
			send("PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":`+value+`}}`)
		}
	}
	change()
	send("POST", configMaps, `{"metadata":{"name":`+string(quoted)+`}}`)
	send("GET", configMaps+"/%1b%5b2J%c2%9b", "")
	send("GET", "/api/v1/services", "")

	budget, start, failed := &recorder{}, &recorder{}, &recorder{}
	srv.ExpectWriteBudget(budget, "*", 1, change)
	fakeapi.Start(start, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":`+string(quoted)+`}}`))
	fakeapi.Start(failed, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"k":`+string(quoted)+`}}`))
	failed.failed = true
	failed.end()
	_, err = srv.Inject(faults.Fault{Resource: "nodes", Delay: time.Hour})
	require.NoError(t, err)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/nodes", nil)
		if err == nil {
			req.Header["User-Agent"] = []string{"agent\u009b31m\u202e\xff"}
			_, _ = srv.Client().Do(req) // it fails at the end of the test
		}
	}()
	apitest.Eventually(func() bool { return strings.Contains(srv.Story(), "nodes") })
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	texts := map[string]string{
		"story": srv.Story(), "fault": injection.String() + conflict.String(), "budget": budget.fatal, "start": start.fatal, "log of a failed test": failed.log.String(),
		"settle": srv.Settle(soon).Error(),
	}
	for i, r := range srv.Requests() {
		texts["request "+strconv.Itoa(i)] = r.String()
	}
	for i, w := range srv.Writes(1) {
		texts["write "+strconv.Itoa(i)] = w.String()
	}
	for name, text := range texts {
		assert.NotEmpty(t, text, name)
		i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsPrint(r) })
		assert.Equal(t, -1, i, "%s: %q", name, text)
		assert.NotContains(t, text, "\nline", name)
	}
	assert.Contains(t, texts["story"], `\x1b[2J\rbegin\u009b31m\u202e`)
}

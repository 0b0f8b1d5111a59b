package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

func TestQuoteWarning(t *testing.T) {
	assert.Equal(t, `"unknown field \"spec.a\\b\""`, quoteWarning("unknown field \"spec.a\\b\""))
}

func TestIsImmediate(t *testing.T) {
	s, err := New(Config{})
	require.NoError(t, err)
	defer s.Close()
	for _, row := range []struct {
		method, url string
		immediate   bool
	}{
		{"GET", "/api/v1/namespaces/default/pods/a", true},
		{"GET", "/api/v1/namespaces/default/pods", false},
		{"GET", "/api/v1/pods?watch=1", false},
		{"GET", "/api/v1/namespaces/default/pods/a/log", false},
		{"POST", "/api/v1/namespaces/default/pods/a/exec", false},
		{"POST", "/api/v1/namespaces/default/pods", true},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/a/status", true},
		{"DELETE", "/api/v1/namespaces/default/pods", true},
		{"GET", "/debug/fakeapi/log", false},
		{"GET", "/openapi/v2", false},
	} {
		assert.Equal(t, row.immediate, s.IsImmediate(httptest.NewRequest(row.method, row.url, nil)), "%s %s", row.method, row.url)
	}
	_, err = s.Faults().Inject(faults.Fault{Resource: "nodes", Code: 500})
	require.NoError(t, err)
	assert.False(t, s.IsImmediate(httptest.NewRequest("GET", "/api/v1/namespaces/default/pods/a", nil)))
}

// A panic of a handler is answered with 500 and logged.
func TestPanic(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	control := s.control
	s.control = nil // a bug that the control endpoint hits

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/debug/fakeapi/requests", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Contains(t, w.Body.String(), `"kind":"Status"`)
	assert.NotEmpty(t, control.Requests()[0].Panic, "the log has the trace")
}

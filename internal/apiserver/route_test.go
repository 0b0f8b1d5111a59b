package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuoteWarning(t *testing.T) {
	assert.Equal(t, `"unknown field \"spec.a\\b\""`, quoteWarning("unknown field \"spec.a\\b\""))
}

func TestManagerOf(t *testing.T) {
	for agent, want := range map[string]string{
		"kubectl/v1.36.3 (linux/amd64)": "kubectl",
		"no slash":                      "no slash",
		"/lead":                         "",
		"tab\tbed/1":                    "tabbed",
	} {
		assert.Equal(t, want, managerOf(agent))
	}
	assert.Len(t, managerOf(strings.Repeat("é", 100)), maxManager)
}

func TestPanicsStayInside(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.served.Store(&served{}) // without a registry: a bug that every resource request hits

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/nodes", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Contains(t, w.Body.String(), `"kind":"Status"`)
	assert.NotEmpty(t, s.Requests()[0].Panic, "the log has the trace")
}

package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuoteWarning(t *testing.T) {
	assert.Equal(t, `"unknown field \"spec.a\\b\""`, quoteWarning("unknown field \"spec.a\\b\""))
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

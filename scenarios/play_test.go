package scenarios

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
)

// recorder is a test that notes how it fails.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf("fatal: "+format, args...) }

func TestPlayReports(t *testing.T) {
	srv := fakeapi.Start(t)
	var r recorder
	Play(&r, srv, "testdata/wrong.yaml")
	assert.Equal(t, []string{`testdata/wrong.yaml: demo/wrong
  step 0 (POST /api/v1/namespaces/${ns}/configmaps)
    status: want 200, got 201 {"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata.namespace":"${ns}"}
    header Content-Type: want "", got "application/json"
    header Cache-Control: want "", got "no-cache, private"
  step 2 (the read)
    body.data.a: want "c", got "b"
    body.data.d: missing, want "e"
  step 4 (events of w)
    events: want 2 items, got 1
    events[0].type: want "DELETED", got "ADDED"`}, r.failures)

	r = recorder{}
	Play(&r, srv, "testdata/none.yaml")
	assert.Equal(t, []string{"fatal: open testdata/none.yaml: no such file or directory"}, r.failures)
}

func TestPlayTells(t *testing.T) {
	refused := httptest.NewServer(http.NotFoundHandler())
	defer refused.Close()
	p := &Player{URL: refused.URL}
	r := p.Play(t.Context(), &Scenario{Name: "a"})
	assert.EqualError(t, r.Err, `making a namespace: 404 "404 page not found\n"`)
	assert.True(t, r.Failed())
	assert.Equal(t, "a\n  making a namespace: 404 \"404 page not found\\n\"", r.String())
}

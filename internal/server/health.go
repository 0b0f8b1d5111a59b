package server

import (
	"io"
	"net/http"

	"github.com/kubefake/kubefake/internal/health"
)

// serveHealth serves /healthz, /livez, /readyz and their checks. It returns false
// for other paths.
func (r *request) serveHealth() bool {
	endpoint, check, ok := health.ParsePath(r.surface.Release(), r.Path)
	if !ok {
		return false
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if check != "" {
		io.WriteString(r.w, "ok")
		return true
	}
	h.Set("X-Content-Type-Options", "nosniff")
	q := r.query()
	if !q.Has("verbose") {
		io.WriteString(r.w, "ok")
		return true
	}
	r.w.WriteHeader(http.StatusOK)
	io.WriteString(r.w, health.Report(r.surface.Release(), endpoint, q["exclude"]))
	return true
}

package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/health"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// count counts the request after its response.
func (r *request) count() {
	l := metrics.Request{Code: r.w.code, Verb: r.http.Method}
	if r.typ != nil {
		l.Group, l.Version, l.Resource, l.Subresource = r.Group, r.Version, r.Resource, r.Subresource
		l.Scope, l.Verb = r.metricScope(), r.metricVerb()
		l.DryRun = r.http.URL.RawQuery != "" && r.query().Get("dryRun") != ""
	}
	r.server.requests.Count(l)
}

// metricScope returns the scope of the request as metrics name it.
func (r *request) metricScope() string {
	switch {
	case r.Name != "" || r.Verb == "create":
		return "resource"
	case r.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// metricVerb returns the verb of the request as metrics name it.
func (r *request) metricVerb() string {
	switch r.Verb {
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "patch":
		if strings.HasPrefix(r.http.Header.Get("Content-Type"), "application/apply-patch") {
			return "APPLY"
		}
	case "":
		return r.http.Method
	}
	return strings.ToUpper(r.Verb)
}

// serveMetrics serves /metrics.
//
// Differs from kube-apiserver: metrics: kube-apiserver has about two hundred
// families. Here there are six of them, those of reloaded configuration files, and the
// families fakeapi_live_bytes, fakeapi_history_bytes, fakeapi_history_limit_bytes and
// fakeapi_journal_bytes. Request: GET /metrics.
func (r *request) serveMetrics() error {
	families := []metrics.Family{
		r.server.requests.Family(),
		r.server.objectsFamily(),
		metrics.Family{Name: "apiserver_storage_events_received_total", Type: metrics.Counter, Help: "Number of changes in the store.",
			Samples: []metrics.Sample{{Value: int64(r.server.registry.Store().Revision())}}},
		r.server.buildFamily(),
		r.server.gatesFamily(),
		metrics.Family{Name: "process_start_time_seconds", Type: metrics.Gauge, Help: "Start time of the server since the Unix epoch in seconds.",
			Samples: []metrics.Sample{{Value: r.server.started.Unix()}}},
		gauge("fakeapi_live_bytes", "Memory of the newest versions of objects in bytes.", r.server.registry.Store().LiveBytes()),
		gauge("fakeapi_history_bytes", "Memory of the old versions of objects in bytes.", r.server.registry.Store().HistoryBytes()),
		gauge("fakeapi_history_limit_bytes", "Memory of the old versions of objects in bytes from which on the history is compacted.", r.server.registry.HistoryLimit()),
		gauge("fakeapi_journal_bytes", "Memory of the journal of requests, writes and watches in bytes.", r.server.registry.Journal().Bytes()),
	}
	for _, reloads := range r.server.config.Reloads {
		families = append(families, reloads.Families()...)
	}
	return r.answerMetrics(families...)
}

// gauge returns a family with one sample.
func gauge(name, help string, value int64) metrics.Family {
	return metrics.Family{Name: name, Type: metrics.Gauge, Help: help, Samples: []metrics.Sample{{Value: value}}}
}

// serveHealthMetrics serves /metrics/slis: the results of the health checks.
func (r *request) serveHealthMetrics() error {
	f := metrics.Family{Name: "kubernetes_healthcheck", Type: metrics.Gauge, Help: "This metric records the result of a single healthcheck."}
	for _, endpoint := range health.Endpoints() {
		for _, check := range health.Checks(r.surface.Release(), endpoint) {
			f.Samples = append(f.Samples, metrics.Sample{Labels: []string{"name", check, "type", endpoint}, Value: 1})
		}
	}
	return r.answerMetrics(f)
}

func (r *request) answerMetrics(families ...metrics.Family) error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	r.write(http.StatusOK, metrics.ContentType(r.surface.Release().Minor()), metrics.Encode(families...))
	return nil
}

// objectsFamily returns the number of objects of each resource.
func (s *Server) objectsFamily() metrics.Family {
	f := metrics.Family{Name: "apiserver_resource_objects", Type: metrics.Gauge, Help: "Number of stored objects at the time of last check split by kind."}
	store := s.registry.Store()
	view, err := store.View(0)
	if err != nil {
		panic("server: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	for t := range s.registry.Surface().All() {
		if !t.Virtual() && t.Stored == t.GroupVersion {
			count := store.Count(view, t.Prefix, mvcc.PrefixEnd(t.Prefix))
			f.Samples = append(f.Samples, metrics.Sample{Labels: []string{"group", t.Group, "resource", t.Name}, Value: int64(count)})
		}
	}
	slices.SortFunc(f.Samples, func(a, b metrics.Sample) int {
		return cmp.Or(cmp.Compare(a.Labels[1], b.Labels[1]), cmp.Compare(a.Labels[3], b.Labels[3]))
	})
	return f
}

// buildFamily returns the version of the release.
func (s *Server) buildFamily() metrics.Family {
	var version struct{ Major, Minor, GitVersion string }
	if err := json.Unmarshal(s.Release().VersionInfo(), &version); err != nil {
		panic("server: the version of a release does not decode: " + err.Error()) // unreachable: releases are embedded
	}
	return metrics.Family{Name: "kubernetes_build_info", Type: metrics.Gauge, Help: "A metric with a constant '1' value labeled by major, minor, git version.",
		Samples: []metrics.Sample{{Labels: []string{"git_version", version.GitVersion, "major", version.Major, "minor", version.Minor}, Value: 1}}}
}

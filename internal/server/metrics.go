package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/health"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/mvcc"
)

// count counts a request whose answer has ended.
func (r *request) count(ended time.Time) {
	l := metrics.Request{Code: r.w.code, Verb: methodVerb(r.http.Method)}
	if r.typ != nil {
		l.Group, l.Version, l.Resource = r.Group, r.Version, r.Resource
		if r.sub != nil {
			l.Subresource = r.Subresource
		}
		l.Scope, l.Verb = r.metricScope(), r.metricVerb()
		l.DryRun = r.http.URL.RawQuery != "" && r.query().Get("dryRun") != ""
	}
	r.server.requests.Count(l, ended.Sub(r.start))
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
	case "get":
		return "GET"
	case "list":
		return "LIST"
	case "watch":
		return "WATCH"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "patch":
		if r.isApply() {
			return "APPLY"
		}
		return "PATCH"
	case "":
		return methodVerb(r.http.Method)
	}
	return strings.ToUpper(r.Verb)
}

// isApply reports whether the request is a server-side apply.
func (r *request) isApply() bool {
	return r.Verb == "patch" && strings.HasPrefix(header.Get(r.http.Header, "Content-Type"), "application/apply-patch")
}

// methodVerb returns the verb of a request that is not for a resource as metrics name it.
// The method is chosen by the client: an unknown one is "other", so that the number of
// labels is bounded.
func methodVerb(method string) string {
	switch method {
	case http.MethodHead:
		return http.MethodGet
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect:
		return method
	}
	return "other"
}

// deprecatedAPIs has 1 for each deprecated resource that was asked for.
var deprecatedAPIs = &metrics.Vec{
	Name: "apiserver_requested_deprecated_apis", Type: metrics.Gauge, Stability: metrics.Stable,
	Help:   "Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.",
	Labels: []string{"group", "removed_release", "resource", "subresource", "version"},
}

// serveMetrics serves /metrics.
//
// Differs from kube-apiserver: metrics: kube-apiserver has about three hundred
// families. Here there are those of the process and of the Go runtime, of requests,
// their durations and those in flight, deprecated APIs, stored objects, the size of the storage, feature gates,
// the build, PodSecurity, the audit log, signed certificates and reloaded configuration files,
// and the families fakeapi_live_bytes, fakeapi_history_bytes, fakeapi_history_limit_bytes and
// fakeapi_journal_bytes. Request: GET /metrics.
func (r *request) serveMetrics() error {
	s := r.server
	if r.http.Method == http.MethodDelete {
		s.requests.Reset()
		s.deprecated.Reset()
		s.cluster.ResetMetrics()
		return r.answerReset()
	}
	store := s.cluster.Store()
	live, history := store.LiveBytes(), store.HistoryBytes()
	families := []metrics.Family{
		s.deprecated.Family(deprecatedAPIs),
		{Name: "apiserver_storage_events_received_total", Type: metrics.Counter, Help: "Number of changes in the store.",
			Samples: []metrics.Sample{{Value: float64(store.Revision())}}},
		{Name: "apiserver_storage_size_bytes", Type: metrics.Gauge, Stability: metrics.Stable, Help: "Size of the storage database file physically allocated in bytes.",
			Samples: []metrics.Sample{{Labels: []string{"storage_cluster_id", "etcd-0"}, Value: float64(live + history)}}},
		s.buildFamily(),
		s.gatesFamily(),
		s.inflightFamily(),
		gauge("fakeapi_live_bytes", "Memory of the newest versions of objects in bytes.", live),
		gauge("fakeapi_history_bytes", "Memory of the old versions of objects in bytes.", history),
		gauge("fakeapi_history_limit_bytes", "Memory of the old versions of objects in bytes from which on the history is compacted.", s.cluster.HistoryLimit()),
		gauge("fakeapi_journal_bytes", "Memory of the journal of requests, writes and watches in bytes.", s.cluster.Journal().Bytes()),
	}
	families = append(families, s.requests.Families()...)
	families = append(families, s.objectsFamilies()...)
	families = append(families, s.cluster.Metrics()...)
	families = append(families, s.config.Audit.Metrics()...)
	families = append(families, metrics.Process(s.started)...)
	families = append(families, metrics.Go()...)
	families = append(families, metrics.ReloadFamilies(s.reloads())...)
	return r.answerMetrics(s.config.MetricLabels.Constrain(families)...)
}

// inflightFamily returns the number of requests in flight.
func (s *Server) inflightFamily() metrics.Family {
	reads, writes := s.activity.InFlight()
	return metrics.Family{
		Name: "apiserver_current_inflight_requests", Type: metrics.Gauge, Stability: metrics.Stable,
		Help: "Maximal number of currently used inflight request limit of this apiserver per request kind in last second.",
		Samples: []metrics.Sample{
			{Labels: []string{"request_kind", "mutating"}, Value: float64(writes)},
			{Labels: []string{"request_kind", "readOnly"}, Value: float64(reads)},
		},
	}
}

// gauge returns a family with one sample.
func gauge(name, help string, value int64) metrics.Family {
	return metrics.Family{Name: name, Type: metrics.Gauge, Help: help, Samples: []metrics.Sample{{Value: float64(value)}}}
}

// serveHealthMetrics serves /metrics/slis: the results of the health checks. Only a GET returns them.
func (r *request) serveHealthMetrics() error {
	switch r.http.Method {
	case http.MethodGet:
	case http.MethodDelete:
		return r.answerReset()
	default:
		r.w.WriteHeader(http.StatusOK)
		return nil
	}
	f := metrics.Family{Name: "kubernetes_healthcheck", Type: metrics.Gauge, Stability: metrics.Stable, Help: "This metric records the result of a single healthcheck."}
	for _, endpoint := range health.Endpoints() {
		for _, check := range health.Checks(r.surface.Release(), endpoint) {
			f.Samples = append(f.Samples, metrics.Sample{Labels: []string{"name", check, "type", endpoint}, Value: 1})
		}
	}
	return r.answerMetrics(f)
}

// answerReset answers a DELETE of metrics.
//
// Differs from kube-apiserver: reset of metrics: kube-apiserver removes the values of all metrics
// with labels until they are set again. Here the counts of requests and of what plugins do begin
// again, and metrics about the present state stay. Request: DELETE /metrics.
func (r *request) answerReset() error {
	r.write(http.StatusOK, "text/plain; charset=utf-8", []byte("metrics reset\n"))
	return nil
}

func (r *request) answerMetrics(families ...metrics.Family) error {
	r.w.Header().Set("Process-Start-Time-Unix", strconv.FormatInt(r.server.started.Unix(), 10))
	r.write(http.StatusOK, metrics.ContentType(r.surface.Release().Minor()), metrics.Encode(families...))
	return nil
}

// objectsFamilies return the number of objects of each resource, by the name of now and by
// the deprecated one.
func (s *Server) objectsFamilies() []metrics.Family {
	const help = "Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1."
	objects := metrics.Family{Name: "apiserver_resource_objects", Type: metrics.Gauge, Stability: metrics.Alpha, Help: help}
	deprecated := metrics.Family{Name: "apiserver_storage_objects", Type: metrics.Gauge, Stability: metrics.Stable,
		Help: "(Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] " + help}
	store := s.cluster.Store()
	view := store.NewestView()
	for t := range s.cluster.Surface().All() {
		if !t.Virtual() && t.Stored == t.GroupVersion {
			count := float64(store.Count(view, t.Prefix, mvcc.PrefixEnd(t.Prefix)))
			objects.Samples = append(objects.Samples, metrics.Sample{Labels: []string{"group", t.Group, "resource", t.Name}, Value: count})
			name := strings.TrimSuffix(t.Name+"."+t.Group, ".")
			deprecated.Samples = append(deprecated.Samples, metrics.Sample{Labels: []string{"resource", name}, Value: count})
		}
	}
	for _, f := range []metrics.Family{objects, deprecated} {
		slices.SortFunc(f.Samples, func(a, b metrics.Sample) int { return slices.Compare(a.Labels, b.Labels) })
	}
	return []metrics.Family{objects, deprecated}
}

// buildFamily returns the version of the release.
func (s *Server) buildFamily() metrics.Family {
	var version struct{ Major, Minor, GitVersion, GitCommit, GitTreeState, BuildDate, GoVersion, Compiler, Platform string }
	if err := json.Unmarshal(s.Release().VersionInfo(), &version); err != nil {
		panic("server: the version of a release does not decode: " + err.Error()) // unreachable: releases are embedded
	}
	labels := []string{
		"build_date", version.BuildDate, "compiler", version.Compiler, "git_commit", version.GitCommit, "git_tree_state", version.GitTreeState,
		"git_version", version.GitVersion, "go_version", version.GoVersion, "major", version.Major, "minor", version.Minor, "platform", version.Platform,
	}
	return metrics.Family{Name: "kubernetes_build_info", Type: metrics.Gauge, Stability: metrics.Beta,
		Help:    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
		Samples: []metrics.Sample{{Labels: labels, Value: 1}}}
}

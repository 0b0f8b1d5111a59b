package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// metricsType is the media type of Prometheus' text format.
//
// See https://prometheus.io/docs/instrumenting/exposition_formats/.
const metricsType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// metrics count what the server was asked.
type metrics struct {
	mu       sync.Mutex // guards requests
	requests map[requestLabels]int64
}

func newMetrics() *metrics { return &metrics{requests: map[requestLabels]int64{}} }

// requestLabels are those of apiserver_request_total.
type requestLabels struct {
	code                                  int
	dryRun                                bool
	group, version, resource, subresource string
	scope, verb                           string
}

// count counts a request that was answered. What is of no resource is counted
// by its method alone: paths are without number.
func (m *metrics) count(r *request) {
	l := requestLabels{code: r.w.code, verb: r.http.Method}
	if r.typ != nil {
		l.group, l.version, l.resource, l.subresource = r.Group, r.Version, r.Resource, r.Subresource
		l.scope, l.verb = r.scope(), r.metricVerb()
		l.dryRun = r.http.URL.RawQuery != "" && r.query().Get("dryRun") != ""
	}
	m.mu.Lock()
	m.requests[l]++
	m.mu.Unlock()
}

// scope is whether the request was for one object, a namespace or the cluster.
func (r *request) scope() string {
	switch {
	case r.Name != "" || r.Verb == "create":
		return "resource"
	case r.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// metricVerb is the verb as metrics name it.
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

// A family is the samples of one metric.
type family struct {
	name, kind, help string
	samples          []sample
}

// A sample is a value with its labels: pairs of a name and a value.
type sample struct {
	labels []string
	value  int64
}

// write writes a family as Prometheus reads it.
func (f *family) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
	for _, s := range f.samples {
		b.WriteString(f.name)
		for i := 0; i < len(s.labels); i += 2 {
			b.WriteByte("{,"[min(i, 1)])
			fmt.Fprintf(b, "%s=\"%s\"", s.labels[i], labelEscapes.Replace(s.labels[i+1]))
		}
		if len(s.labels) > 0 {
			b.WriteByte('}')
		}
		fmt.Fprintf(b, " %d\n", s.value)
	}
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// serveMetrics answers the metrics that clients most look at.
//
// Differs from kube-apiserver: that has some two hundred families.
func (r *request) serveMetrics() error {
	return r.answerMetrics(
		r.server.metrics.family(),
		r.server.objectsFamily(),
		family{"apiserver_storage_events_received_total", "counter", "Number of changes in the store.", []sample{{nil, int64(r.server.registry.Store().Revision())}}},
		r.server.buildFamily(),
		family{"process_start_time_seconds", "gauge", "Start time of the server since the Unix epoch in seconds.", []sample{{nil, r.server.started.Unix()}}},
	)
}

// serveHealthMetrics answers the results of the health checks.
func (r *request) serveHealthMetrics() error {
	f := family{"kubernetes_healthcheck", "gauge", "This metric records the result of a single healthcheck.", nil}
	for _, kind := range slices.Sorted(maps.Keys(healthChecks)) {
		for _, check := range healthChecks[kind] {
			f.samples = append(f.samples, sample{[]string{"name", check, "type", kind}, 1})
		}
	}
	return r.answerMetrics(f)
}

func (r *request) answerMetrics(families ...family) error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	var b bytes.Buffer
	for i := range families {
		families[i].write(&b)
	}
	r.write(http.StatusOK, metricsType, b.Bytes())
	return nil
}

// family is the counts of requests, in a stable order.
func (m *metrics) family() family {
	m.mu.Lock()
	counts := maps.Clone(m.requests)
	m.mu.Unlock()
	f := family{"apiserver_request_total", "counter", "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", nil}
	for l, n := range counts {
		component, dryRun := "", ""
		if l.resource != "" {
			component = "apiserver"
		}
		if l.dryRun {
			dryRun = "All"
		}
		f.samples = append(f.samples, sample{[]string{
			"code", strconv.Itoa(l.code), "component", component, "dry_run", dryRun, "group", l.group, "resource", l.resource,
			"scope", l.scope, "subresource", l.subresource, "verb", l.verb, "version", l.version,
		}, n})
	}
	slices.SortFunc(f.samples, func(a, b sample) int { return slices.Compare(a.labels, b.labels) })
	return f
}

// objectsFamily counts the objects of each resource.
func (s *Server) objectsFamily() family {
	f := family{"apiserver_resource_objects", "gauge", "Number of stored objects at the time of last check split by kind.", nil}
	view, err := s.registry.Store().View(0)
	if err != nil {
		panic("server: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	for _, t := range s.registry.Surface().All() {
		if !t.Virtual() && t.Stored == t.GroupVersion {
			f.samples = append(f.samples, sample{[]string{"group", t.Group, "resource", t.Name}, int64(view.Count(t.Prefix, mvcc.PrefixEnd(t.Prefix)))})
		}
	}
	slices.SortFunc(f.samples, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.labels[1], b.labels[1]), cmp.Compare(a.labels[3], b.labels[3]))
	})
	return f
}

// buildFamily tells the version.
func (s *Server) buildFamily() family {
	var version struct{ Major, Minor, GitVersion string }
	if err := json.Unmarshal(s.config.Release.VersionInfo(), &version); err != nil {
		panic("server: the version of a release does not decode: " + err.Error()) // unreachable: releases are embedded
	}
	return family{"kubernetes_build_info", "gauge", "A metric with a constant '1' value labeled by major, minor, git version.", []sample{
		{[]string{"git_version", version.GitVersion, "major", version.Major, "minor", version.Minor}, 1},
	}}
}

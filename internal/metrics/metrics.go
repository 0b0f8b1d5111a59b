// Package metrics counts requests and writes metrics in Prometheus' text format.
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType returns the media type of a release, by its minor number, for Prometheus' text format.
//
// See https://prometheus.io/docs/instrumenting/exposition_formats/.
func ContentType(minor int) string {
	escaping := "underscores"
	if minor < 33 {
		escaping = "values"
	}
	return "text/plain; version=0.0.4; charset=utf-8; escaping=" + escaping
}

// A Family is a metric with its samples.
type Family struct {
	Name    string
	Type    Type
	Help    string
	Samples []Sample
}

// A Type is the type of a metric.
type Type string

// The types of metrics.
const (
	Counter Type = "counter"
	Gauge   Type = "gauge"
)

// A Sample is a value of a metric with its labels.
type Sample struct {
	Labels []string // name, value, name, value, ...
	Value  int64
}

// Encode returns the families in Prometheus' text format.
func Encode(families ...Family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		f.encode(&b)
	}
	return b.Bytes()
}

func (f *Family) encode(b *bytes.Buffer) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.Name, f.Help, f.Name, f.Type)
	for _, s := range f.Samples {
		b.WriteString(f.Name)
		for i := 0; i < len(s.Labels); i += 2 {
			b.WriteByte("{,"[min(i, 1)])
			fmt.Fprintf(b, "%s=\"%s\"", s.Labels[i], escapeLabel.Replace(s.Labels[i+1]))
		}
		if len(s.Labels) > 0 {
			b.WriteByte('}')
		}
		fmt.Fprintf(b, " %d\n", s.Value)
	}
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Requests counts requests as apiserver_request_total. The zero value is empty.
// It is safe for concurrent use.
type Requests struct {
	mu     sync.Mutex // guards counts
	counts map[Request]int64
}

// A Request is the labels of a request. All members between Code and Verb are
// zero for a request that is not for a resource: the number of paths has no
// bound.
type Request struct {
	Code                                  int
	DryRun                                bool
	Group, Version, Resource, Subresource string
	Scope                                 string // "resource", "namespace" or "cluster"
	Verb                                  string
}

// Count counts a request.
func (r *Requests) Count(l Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[Request]int64{}
	}
	r.counts[l]++
}

// Family returns the counts, sorted by labels.
func (r *Requests) Family() Family {
	r.mu.Lock()
	counts := maps.Clone(r.counts)
	r.mu.Unlock()
	f := Family{"apiserver_request_total", Counter, "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", nil}
	for l, n := range counts {
		component, dryRun := "", ""
		if l.Resource != "" {
			component = "apiserver"
		}
		if l.DryRun {
			dryRun = "All"
		}
		f.Samples = append(f.Samples, Sample{[]string{
			"code", strconv.Itoa(l.Code), "component", component, "dry_run", dryRun, "group", l.Group, "resource", l.Resource,
			"scope", l.Scope, "subresource", l.Subresource, "verb", l.Verb, "version", l.Version,
		}, n})
	}
	slices.SortFunc(f.Samples, func(a, b Sample) int { return slices.Compare(a.Labels, b.Labels) })
	return f
}

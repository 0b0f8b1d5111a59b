// Package metrics counts what a server does and writes metrics in Prometheus' text format.
package metrics

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/release/behavior"
)

// ContentType returns the media type of a release, by its minor number, for Prometheus' text format.
//
// See https://prometheus.io/docs/instrumenting/exposition_formats/.
func ContentType(minor int) string {
	escaping := "underscores"
	if !behavior.UnderscoresInMetrics.In(minor) {
		escaping = "values"
	}
	return "text/plain; version=0.0.4; charset=utf-8; escaping=" + escaping
}

// A Family is a metric with its samples.
type Family struct {
	Name      string
	Type      Type
	Stability Stability
	Help      string
	Samples   []Sample
}

// A Type is the type of a metric.
type Type string

// The types of metrics.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
	Summary   Type = "summary"
)

// A Stability is how stable Kubernetes keeps a metric. "" is that of metrics which are not of
// Kubernetes.
//
// See https://kubernetes.io/docs/reference/instrumentation/metrics/.
type Stability string

// The levels of stability.
const (
	Alpha  Stability = "ALPHA"
	Beta   Stability = "BETA"
	Stable Stability = "STABLE"
)

// A Sample is a value of a metric with its labels.
type Sample struct {
	Suffix string   // of the name, in histograms and summaries: "_bucket", "_sum" or "_count"
	Labels []string // name, value, name, value, ...
	Value  float64
}

// Encode returns the families in Prometheus' text format, in the order of their names.
// Families without samples are left out.
func Encode(families ...Family) []byte {
	families = slices.Clone(families)
	slices.SortStableFunc(families, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	for _, f := range families {
		f.encode(&b)
	}
	return b.Bytes()
}

func (f *Family) encode(b *bytes.Buffer) {
	if len(f.Samples) == 0 {
		return
	}
	help := f.Help
	if f.Stability != "" {
		help = fmt.Sprintf("[%s] %s", f.Stability, help)
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.Name, help, f.Name, f.Type)
	for _, s := range f.Samples {
		b.WriteString(f.Name)
		b.WriteString(s.Suffix)
		for i := 0; i < len(s.Labels); i += 2 {
			b.WriteByte("{,"[min(i, 1)])
			fmt.Fprintf(b, "%s=\"%s\"", s.Labels[i], escapeLabel.Replace(s.Labels[i+1]))
		}
		if len(s.Labels) > 0 {
			b.WriteByte('}')
		}
		fmt.Fprintf(b, " %s\n", number(s.Value))
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

package metrics

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// unexpected is the value of a label in the place of one that is not allowed.
const unexpected = "unexpected"

// An AllowList has the values that labels of metrics may have, by METRIC,LABEL. Labels without an
// entry may have any.
type AllowList map[string][]string

const (
	metricName = `[a-zA-Z_:][a-zA-Z0-9_:]*`
	labelName  = `[a-zA-Z_][a-zA-Z0-9_]*`
)

// AllowListKeys says what the keys of an AllowList are, in the words of kube-apiserver.
var AllowListKeys = fmt.Sprintf("must have keys with format `metricName,labelName` where metricName matches %q and labelName matches %q", metricName, labelName)

var allowListKey = regexp.MustCompile(`^` + metricName + `,` + labelName + `$`)

// Check returns an error, in the words of kube-apiserver, if a key is not METRIC,LABEL.
func (a AllowList) Check() error {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !allowListKey.MatchString(key) {
			return fmt.Errorf("%q: %s", key, AllowListKeys)
		}
	}
	return nil
}

// Constrain returns the families with the value "unexpected" of each label that has a value which
// is not allowed, and the family that counts these values: of a gauge once, of other metrics as
// often as they were counted.
func (a AllowList) Constrain(families []Family) []Family {
	enforced := Family{Name: "cardinality_enforcement_unexpected_categorizations_total", Type: Counter, Stability: Alpha,
		Help: "The count of unexpected categorizations during cardinality enforcement.", Samples: []Sample{{}}}
	out := make([]Family, len(families), len(families)+1)
	for i, f := range families {
		replaced := 0.0
		out[i], replaced = a.constrain(f)
		enforced.Samples[0].Value += replaced
	}
	return append(out, enforced)
}

// constrain is Constrain for one family. It adds up samples that have become the same. replaced is
// how many values were counted as unexpected.
func (a AllowList) constrain(f Family) (out Family, replaced float64) {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(a)), func(key string) bool { return strings.HasPrefix(key, f.Name+",") }) {
		return f, 0
	}
	out = f
	out.Samples = nil
	index := map[string]int{}
	for _, s := range f.Samples {
		labels, n := a.allowed(f.Name, s.Labels)
		switch {
		case f.Type == Gauge:
			replaced += n
		case s.Suffix == "" || s.Suffix == "_count":
			replaced += n * s.Value
		}
		key := s.Suffix + separator + strings.Join(labels, separator)
		if at, ok := index[key]; ok {
			out.Samples[at].Value += s.Value
			continue
		}
		index[key] = len(out.Samples)
		out.Samples = append(out.Samples, Sample{Suffix: s.Suffix, Labels: labels, Value: s.Value})
	}
	return out, replaced
}

// allowed returns the labels of a sample with allowed values, and how many others there were.
func (a AllowList) allowed(metric string, labels []string) (out []string, others float64) {
	out = slices.Clone(labels)
	for i := 0; i < len(out); i += 2 {
		if values, ok := a[metric+","+out[i]]; ok && !slices.Contains(values, out[i+1]) {
			out[i+1] = unexpected
			others++
		}
	}
	return out, others
}

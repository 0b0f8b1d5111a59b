package metrics

import (
	"slices"
	"strings"
	"sync"
)

// A Vec describes a metric with labels.
type Vec struct {
	Name      string
	Type      Type
	Stability Stability
	Help      string
	Labels    []string   // the names, sorted
	Initial   [][]string // the labels of the samples that are 0 at the start
}

// Values are the values of Vecs. The zero value is empty. Values are safe for concurrent
// use, and nil Values ignore what they are given.
type Values struct {
	mu   sync.Mutex // guards vecs
	vecs map[*Vec]map[string]*float64
}

// Add adds 1 to the sample with the values of the labels, in the order of their names.
func (v *Values) Add(vec *Vec, labels ...string) {
	v.change(vec, labels, func(old float64) float64 { return old + 1 })
}

// Set sets the sample with the values of the labels, in the order of their names.
func (v *Values) Set(vec *Vec, value float64, labels ...string) {
	v.change(vec, labels, func(float64) float64 { return value })
}

// separator separates the values of labels in the keys of samples. It is not valid UTF-8.
const separator = "\xff"

func (v *Values) change(vec *Vec, labels []string, change func(old float64) float64) {
	if v == nil {
		return
	}
	key := make([]byte, 0, 128)
	for i, label := range labels {
		if i > 0 {
			key = append(key, separator...)
		}
		key = append(key, label...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	samples := v.vecs[vec]
	if samples == nil {
		if v.vecs == nil {
			v.vecs = map[*Vec]map[string]*float64{}
		}
		samples = map[string]*float64{}
		v.vecs[vec] = samples
	}
	sample := samples[string(key)]
	if sample == nil {
		sample = new(float64)
		samples[string(key)] = sample
	}
	*sample = change(*sample)
}

// Reset removes all samples.
func (v *Values) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.vecs = nil
}

// Family returns the samples of a Vec, sorted by labels.
func (v *Values) Family(vec *Vec) Family {
	samples := map[string]float64{}
	for _, labels := range vec.Initial {
		samples[strings.Join(labels, separator)] = 0
	}
	v.mu.Lock()
	for key, sample := range v.vecs[vec] {
		samples[key] = *sample
	}
	v.mu.Unlock()
	f := Family{Name: vec.Name, Type: vec.Type, Stability: vec.Stability, Help: vec.Help}
	for key, value := range samples {
		var labels []string
		for i, text := range strings.Split(key, separator) {
			labels = append(labels, vec.Labels[i], text)
		}
		f.Samples = append(f.Samples, Sample{Labels: labels, Value: value})
	}
	slices.SortFunc(f.Samples, func(a, b Sample) int { return slices.Compare(a.Labels, b.Labels) })
	return f
}

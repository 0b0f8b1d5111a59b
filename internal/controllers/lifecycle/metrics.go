package lifecycle

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/selector"
)

// A Measurement is the value of a metric of some Pods.
type Measurement struct {
	Namespace string          // "" is all
	Labels    selector.Labels // of the Pods
	Container string          // "" is each container

	Name   string // of a resource, or of the metric if Custom
	Custom bool
	Value  string // a quantity
}

// metrics are the values of metrics that were set.
type metrics struct {
	measured []measured       // of Pods, the newest last
	external map[string]int64 // of anything else, by name
}

type measured struct {
	Measurement
	milli int64
}

// Milli returns a canonical quantity in thousandths, rounded away from zero.
func Milli(q string) int64 { return quantity.Count(q, 1e6).Int64() }

func parse(name, value string) (int64, error) {
	canonical, err := quantity.Canonical(value)
	if err != nil {
		return 0, fmt.Errorf("metric %s: %w", name, err)
	}
	return Milli(canonical), nil
}

// Measure sets the values of metrics of Pods. They have precedence over those that were set
// before, and replace those of the same metric, Pods and container. It fails without an
// effect if a value is not a quantity.
func (s *Set) Measure(values ...Measurement) error {
	parsed := make([]measured, len(values))
	for i, m := range values {
		milli, err := parse(m.Name, m.Value)
		if err != nil {
			return err
		}
		parsed[i] = measured{m, milli}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range parsed {
		s.metrics.measured = append(slices.DeleteFunc(s.metrics.measured, func(old measured) bool {
			return old.Namespace == m.Namespace && old.Labels.String() == m.Labels.String() && old.Container == m.Container &&
				old.Name == m.Name && old.Custom == m.Custom
		}), m)
	}
	return nil
}

// SetMetric sets the value of a metric that is not one of Pods. It fails if the value is
// not a quantity.
func (s *Set) SetMetric(name, value string) error {
	milli, err := parse(name, value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.metrics.external == nil {
		s.metrics.external = map[string]int64{}
	}
	s.metrics.external[name] = milli
	return nil
}

// Metric returns a value of SetMetric in thousandths; false if there is none.
func (s *Set) Metric(name string) (int64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	milli, ok := s.metrics.external[name]
	return milli, ok
}

// Usage returns how much of a resource a container of a Pod uses, in thousandths; false if
// that was not set.
func (s *Set) Usage(namespace string, labels map[string]string, container, resource string) (int64, bool) {
	return s.find(func(m *measured) bool {
		return !m.Custom && m.Name == resource && (m.Container == "" || m.Container == container) && m.selects(namespace, labels)
	})
}

// PodMetric returns the value of a custom metric of a Pod in thousandths; false if there
// is none.
func (s *Set) PodMetric(namespace string, labels map[string]string, name string) (int64, bool) {
	return s.find(func(m *measured) bool { return m.Custom && m.Name == name && m.selects(namespace, labels) })
}

func (m *Measurement) selects(namespace string, labels map[string]string) bool {
	return (m.Namespace == "" || m.Namespace == namespace) && m.Labels.Matches(selector.Map(labels))
}

func (s *Set) find(match func(*measured) bool) (int64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range slices.Backward(s.metrics.measured) {
		if m := &s.metrics.measured[i]; match(m) {
			return m.milli, true
		}
	}
	return 0, false
}

// Measured reports whether a metric of Pods was set: a resource, or a custom one.
func (s *Set) Measured(custom bool) bool {
	_, ok := s.find(func(m *measured) bool { return m.Custom == custom })
	return ok
}

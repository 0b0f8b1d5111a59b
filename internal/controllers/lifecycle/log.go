package lifecycle

import (
	"slices"

	"github.com/kubefake/kubefake/internal/selector"
)

// A Log is what containers of some Pods have written.
type Log struct {
	Namespace string          // "" is all
	Labels    selector.Labels // of the Pods
	Container string          // "" is each container
	Text      string
}

// SetLog sets a log. It has precedence over those that were set before, and replaces one
// of the same Pods and container.
func (s *Set) SetLog(l Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(slices.DeleteFunc(s.logs, func(old Log) bool {
		return old.Namespace == l.Namespace && old.Labels.String() == l.Labels.String() && old.Container == l.Container
	}), l)
}

// LogOf returns the log of a container of a Pod; false if none was set.
func (s *Set) LogOf(namespace string, labels map[string]string, container string) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range slices.Backward(s.logs) {
		if (l.Namespace == "" || l.Namespace == namespace) && (l.Container == "" || l.Container == container) && l.Labels.Matches(selector.Map(labels)) {
			return l.Text, true
		}
	}
	return "", false
}

package lifecycle

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/selector"
)

// An Action is what containers do instead of running.
type Action int

const (
	// Run is the default: the containers run and are ready; those of Jobs complete.
	Run Action = iota
	// Exit ends the containers as soon as they have started.
	Exit
	// FailImagePull keeps the containers from starting.
	FailImagePull
	// Hang makes the containers run without becoming ready or completing. They
	// ignore SIGTERM.
	Hang
)

// A Behavior is what the containers of some Pods do.
type Behavior struct {
	Namespace string          // "" is all
	Labels    selector.Labels // of the Pods
	Container string          // "" is all that are not init containers

	Action   Action
	ExitCode int64 // of Exit
}

// selects reports whether the behavior is about a Pod.
func (b *Behavior) selects(namespace string, labels map[string]string) bool {
	return (b.Namespace == "" || b.Namespace == namespace) && b.Labels.Matches(selector.Map(labels))
}

// A Set has the Stages and the behaviors of a server. It is safe for concurrent use.
type Set struct {
	changes atomic.Int64

	mu        sync.RWMutex // guards the fields below
	stages    []*Stage
	behaviors []Behavior      // the newest last
	stopped   map[string]bool // Nodes
	metrics   metrics
	logs      []answer[string]
	runs      []answer[Runner]
}

// Changes returns the number of changes of the set.
func (s *Set) Changes() int64 { return s.changes.Load() }

// SetStages replaces the Stages.
func (s *Set) SetStages(stages []*Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stages = stages
	s.changes.Add(1)
}

// Stages returns the Stages of a kind.
func (s *Set) Stages(kind string) (out []*Stage) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, stage := range s.stages {
		if stage.Kind == kind {
			out = append(out, stage)
		}
	}
	return out
}

// Add adds a behavior. It has precedence over those that were added before, and
// replaces one about the same Pods and container.
func (s *Set) Add(b Behavior) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviors = slices.DeleteFunc(s.behaviors, func(old Behavior) bool {
		return old.Namespace == b.Namespace && old.Container == b.Container && old.Labels.String() == b.Labels.String()
	})
	s.behaviors = append(s.behaviors, b)
	s.changes.Add(1)
}

// Of returns the behaviors of a Pod, those with precedence first; none if it behaves as
// its Stages say.
func (s *Set) Of(namespace string, labels map[string]string) (out []Behavior) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range slices.Backward(s.behaviors) {
		if b.selects(namespace, labels) {
			out = append(out, b)
		}
	}
	return out
}

// Find returns the behavior of a container among those of its Pod.
func Find(behaviors []Behavior, container string, init bool) (Behavior, bool) {
	for _, b := range behaviors {
		if b.Container == container || b.Container == "" && !init {
			return b, true
		}
	}
	return Behavior{}, false
}

// StopNode stops the kubelet of a Node, or starts it again.
func (s *Set) StopNode(name string, stop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = map[string]bool{}
	}
	s.stopped[name] = stop
	s.changes.Add(1)
}

// Stopped reports whether the kubelet of a Node is stopped.
func (s *Set) Stopped(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.stopped[name]
}

// Inherit makes an empty set a copy of another one. Nobody else uses the set yet.
func (s *Set) Inherit(from *Set) {
	from.mu.RLock()
	defer from.mu.RUnlock()
	s.stages, s.behaviors, s.stopped = slices.Clone(from.stages), slices.Clone(from.behaviors), maps.Clone(from.stopped)
	s.metrics = metrics{slices.Clone(from.metrics.measured), maps.Clone(from.metrics.external)}
	s.logs, s.runs = slices.Clone(from.logs), slices.Clone(from.runs)
}

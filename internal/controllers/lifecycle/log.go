package lifecycle

import (
	"context"
	"io"
	"slices"

	"github.com/kubefake/kubefake/internal/selector"
)

// Containers are some containers of some Pods.
type Containers struct {
	Namespace string          // "" is all
	Labels    selector.Labels // of the Pods
	Container string          // "" is each container
}

// equal reports whether c and other are written alike.
func (c Containers) equal(other Containers) bool {
	return c.Namespace == other.Namespace && c.Labels.String() == other.Labels.String() && c.Container == other.Container
}

func (c Containers) has(namespace string, labels map[string]string, container string) bool {
	return (c.Namespace == "" || c.Namespace == namespace) && (c.Container == "" || c.Container == container) && c.Labels.Matches(selector.Map(labels))
}

// An answer is what some containers answer. The newest of several is that of a container.
type answer[T any] struct {
	of    Containers
	value T
}

// setAnswer returns the list with an answer, which replaces one of the same containers.
func setAnswer[T any](list []answer[T], of Containers, value T) []answer[T] {
	return append(slices.DeleteFunc(list, func(old answer[T]) bool { return old.of.equal(of) }), answer[T]{of, value})
}

// findAnswer returns the answer of a container; false if there is none.
func findAnswer[T any](list []answer[T], namespace string, labels map[string]string, container string) (value T, ok bool) {
	for _, a := range slices.Backward(list) {
		if a.of.has(namespace, labels, container) {
			return a.value, true
		}
	}
	return value, false
}

// SetLog sets what containers have written. It has precedence over what was set before.
func (s *Set) SetLog(of Containers, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = setAnswer(s.logs, of, text)
}

// LogOf returns the log of a container of a Pod; false if none was set.
func (s *Set) LogOf(namespace string, labels map[string]string, container string) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return findAnswer(s.logs, namespace, labels, container)
}

// A Command is a command that a client executes in a container.
type Command struct {
	Namespace, Pod, Container string
	Args                      []string // the name of the program is the first
	TTY                       bool
	Stdin                     io.Reader // at its end at once if the client sends none
	Stdout, Stderr            io.Writer // discard what the client does not ask for
}

// A Runner runs commands and returns their exit codes. The context ends with the connection.
type Runner func(context.Context, Command) (exitCode int)

// SetRun sets what runs the commands of containers. It has precedence over what was set
// before.
func (s *Set) SetRun(of Containers, run Runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = setAnswer(s.runs, of, run)
}

// RunOf returns what runs the commands of a container of a Pod; false if none was set.
func (s *Set) RunOf(namespace string, labels map[string]string, container string) (Runner, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return findAnswer(s.runs, namespace, labels, container)
}

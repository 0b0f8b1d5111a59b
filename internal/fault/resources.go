package fault

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/glob"
)

// checkResources returns an error for a resource that the fault names by its singular, its
// kind or a short name: no request has it.
func (s *Set) checkResources(f *faults.Fault) error {
	text, misnamed := s.unserved(f)
	if !misnamed {
		return nil
	}
	return fmt.Errorf("resource: %s", text)
}

// unserved describes a resource of the fault that the server does not serve, "" if there is
// none. It ignores patterns with *. It prefers a misnamed resource: one that the server
// serves by another name.
func (s *Set) unserved(f *faults.Fault) (text string, misnamed bool) {
	if s.options.FindResource == nil {
		return "", false
	}
	for _, pattern := range glob.Split(f.Resource) {
		name, _, _ := strings.Cut(pattern, "/")
		if strings.Contains(name, "*") {
			continue
		}
		served, meant := s.options.FindResource(name)
		switch {
		case served:
		case meant != "":
			return fmt.Sprintf("no resource %q; did you mean %q?", pattern, meant+pattern[len(name):]), true
		case text == "":
			text = fmt.Sprintf("no resource %q", pattern)
		}
	}
	return text, false
}

// Warning names a resource of the fault that the server does not serve now, "" if there is
// none. A CustomResourceDefinition can define it later.
func (r *Rule) Warning() string {
	text, _ := r.set.unserved(&r.fault)
	return text
}

package resource

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// NamespaceRequired is the error of a key without the namespace that it needs.
func NamespaceRequired() error { return status.BadRequest("Namespace parameter required.") }

// CheckName fails for a name by which nothing can be stored.
func CheckName(name string) error {
	if name == "" {
		return status.BadRequest("Name parameter required.")
	}
	if problems := validation.PathSegment(name); len(problems) > 0 {
		return status.BadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(problems, ";")))
	}
	return nil
}

// Package namespacelifecycle is the NamespaceLifecycle admission plugin. It
// refuses writes in a namespace that does not exist, new objects in a namespace
// that is being deleted, and the deletion of the namespaces of the system.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle.
package namespacelifecycle

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin checks requests. Its caller looks up the namespace, because it need not
// decode it, and because writes that pass no other plugin pass this one.
type Plugin struct{}

var _ admission.Plugin = Plugin{}

// Name returns "NamespaceLifecycle".
func (Plugin) Name() string { return "NamespaceLifecycle" }

// Resources returns nil. The plugin handles every namespaced resource, and
// namespaces.
func (Plugin) Resources() []status.GroupResource { return nil }

// A Write is a write of an object in a namespace.
type Write struct {
	Resource  status.GroupResource
	Namespace string
	Name      string // the [admission.DisplayName] of the object
	Creates   bool   // the object does not exist

	// Exists and Terminating are the state of the namespace.
	Exists, Terminating bool
}

// CheckWrite refuses a write with a *status.Status.
func (Plugin) CheckWrite(w Write) error {
	if !w.Exists {
		return status.NotFound(namespaces, w.Namespace)
	}
	if w.Creates && w.Terminating {
		st := status.Forbidden(w.Resource, w.Name, fmt.Sprintf("unable to create new content in namespace %s because it is being terminated", w.Namespace))
		st.Details.Causes = append(st.Details.Causes, status.Cause{
			Reason:  status.CauseNamespaceTerminating,
			Message: fmt.Sprintf("namespace %s is being terminated", w.Namespace),
			Field:   "metadata.namespace",
		})
		return st
	}
	return nil
}

var namespaces = status.GroupResource{Resource: "namespaces"}

// immortal are the namespaces that cannot be deleted.
var immortal = []string{"default", "kube-system", "kube-public"}

// CheckDelete refuses a deletion with a *status.Status.
func (Plugin) CheckDelete(r status.GroupResource, name string) error {
	if r == namespaces && slices.Contains(immortal, name) {
		return status.Forbidden(r, name, "this namespace may not be deleted")
	}
	return nil
}

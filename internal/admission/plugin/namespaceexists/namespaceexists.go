// Package namespaceexists is the NamespaceExists admission plugin. It refuses writes in
// namespaces that do not exist.
package namespaceexists

import (
	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator] and [admission.OperationPlugin].
type Plugin struct{}

var (
	_ admission.Validator       = Plugin{}
	_ admission.OperationPlugin = Plugin{}
)

// Name returns "NamespaceExists".
func (Plugin) Name() string { return "NamespaceExists" }

// Resources returns nil: all resources.
func (Plugin) Resources() []status.GroupResource { return nil }

// Operations returns Delete.
func (Plugin) Operations() []admission.Operation { return []admission.Operation{admission.Delete} }

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// Validate fails with 404 if the namespace does not exist.
func (Plugin) Validate(a *admission.Attributes) error {
	if !a.Type.Namespaced || !a.Reader.Get(namespaceKind, "", a.Namespace).IsNil() {
		return nil
	}
	return status.NotFound(status.GroupResource{Resource: "namespaces"}, a.Namespace)
}

// CheckOperation fails with 404 if the namespace does not exist.
func (p Plugin) CheckOperation(a *admission.Attributes) error { return p.Validate(a) }

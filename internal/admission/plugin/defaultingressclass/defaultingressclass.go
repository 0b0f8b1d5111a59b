// Package defaultingressclass is the DefaultIngressClass admission plugin. It
// sets the class of Ingresses that name none.
//
// See https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class.
package defaultingressclass

import (
	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "DefaultIngressClass".
func (Plugin) Name() string { return "DefaultIngressClass" }

// Resources returns ingresses.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "networking.k8s.io", Resource: "ingresses"}}
}

var classKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, Kind: "IngressClass"}

// Mutate sets spec.ingressClassName of a new Ingress to the default class, if
// there is one.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	if object.Value(a.Object, "spec", "ingressClassName") != nil || object.Value(a.Object, "metadata", "annotations", "kubernetes.io/ingress.class") != nil {
		return nil
	}
	if name := admission.DefaultClass(a.Reader, classKind, "ingressclass.kubernetes.io/is-default-class"); name != "" {
		object.Set(a.Object, name, "spec", "ingressClassName")
	}
	return nil
}

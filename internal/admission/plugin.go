package admission

import "github.com/kubefake/kubefake/internal/status"

// A Plugin is a compiled-in admission plugin. It implements [Mutator] or
// [Validator], or both. Its methods may be called concurrently. A plugin
// has no state, except EventRateLimit, which counts.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
type Plugin interface {
	// Name returns the name by which kube-apiserver enables the plugin.
	Name() string

	// Resources returns the resources that the plugin handles, with their
	// subresources. Nil means all resources.
	Resources() []status.GroupResource
}

// A Mutator is a plugin that changes objects before they are validated.
type Mutator interface {
	Plugin

	// Mutate changes a.Object, or refuses the request with an error. A
	// *status.Status is the answer to the client; the text of any other error
	// becomes the message of a 403.
	Mutate(a *Attributes) error
}

// A Validator is a plugin that checks valid objects before they are stored.
type Validator interface {
	Plugin

	// Validate refuses the request with an error, like [Mutator.Mutate]. It must
	// not change a.Object.
	Validate(a *Attributes) error
}

// An OperationPlugin handles other operations than Create and Update too, on all
// resources.
type OperationPlugin interface {
	Plugin

	// Operations returns Delete, Connect or both.
	Operations() []Operation

	// CheckOperation refuses the request with an error, like [Mutator.Mutate].
	CheckOperation(a *Attributes) error
}

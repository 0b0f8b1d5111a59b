package admission

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/webhook"
)

// An Operation is what a request does to an object.
type Operation string

// The operations that admission handles.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes describe one operation on an object, or on a subresource of it, to
// admission plugins, policies and webhooks.
type Attributes struct {
	Operation   Operation
	Type        *resource.Type // the resource that is written to
	Codec       resource.Codec // the codec of Object and Old, of the kind of the subresource
	Subresource string         // "" for the object itself

	// Namespace is the namespace of the object. For a Namespace it is its own
	// name.
	Namespace string
	// Name is "" if the name is not generated yet, and in the deletion of a
	// collection.
	Name string

	// Object is nil in a deletion. Mutating plugins change it in place;
	// policies and webhooks may replace it.
	Object map[string]any
	// Old is nothing in a creation.
	Old object.View

	// Options returns the CreateOptions, UpdateOptions or DeleteOptions; nil for none.
	// Only webhooks and policies ask for them.
	Options func() map[string]any
	DryRun  bool
	User    *authn.User

	// Reader reads the state of the server.
	Reader resource.Reader
	// Access decides what User may do, and which feature gates are enabled.
	Access Access

	// Counts are the metrics of the server; nil for none.
	Counts *metrics.Values

	// Warnings are the warnings for the client, in the order in which they were
	// added.
	Warnings []string

	// Annotations are those for the audit log. Of two with the same key the first
	// one counts.
	Annotations []Annotation
}

// An Annotation is one of an audit event. Its key is a qualified name with a prefix.
type Annotation struct {
	Key, Value string
	// AtRequest is whether only events of the level Request or above have it.
	AtRequest bool
}

// Access is what plugins need of the server besides objects.
type Access interface {
	// Authorize decides whether the user of the request may do at.
	Authorize(at authz.Attributes) authz.Decision
	// Types returns the types that are served.
	Types() *resource.Types
	// Release returns the release of the server, with its feature gates.
	Release() *release.Release
	// Now returns the time of the server's clock.
	Now() time.Time
	// GenerateName returns a name with random characters after the prefix, as generateName does.
	GenerateName(prefix string) string
	// Wait waits for d on the server's clock. It returns false at once if that is moved by hand, and when
	// the request ends before.
	Wait(d time.Duration) bool
	// Webhooks returns the client by which the server calls webhooks.
	Webhooks() *webhook.Client
	// Context ends when the request does.
	Context() context.Context
}

// Annotate adds an annotation for the audit log.
func (a *Attributes) Annotate(key, value string) {
	a.Annotations = append(a.Annotations, Annotation{Key: key, Value: value})
}

// Warn adds a warning for the client.
func (a *Attributes) Warn(text string) { a.Warnings = append(a.Warnings, text) }

// Forbidden returns the answer to a request that a plugin refuses with err: err
// itself if it is a *status.Status, else 403 with the text of err.
func (a *Attributes) Forbidden(err error) error {
	var st *status.Status
	if errors.As(err, &st) {
		return st
	}
	return status.Forbidden(a.GroupResource(), a.DisplayName(), err.Error())
}

// GroupResource returns the resource that is written to.
func (a *Attributes) GroupResource() status.GroupResource {
	return status.GroupResource{Group: a.Type.Group, Resource: a.Type.Name}
}

// DisplayName returns [DisplayName] of the object.
func (a *Attributes) DisplayName() string { return DisplayName(a.Name, a.Object) }

// DisplayName returns the name of an object for error messages: name, which is that
// in the request, or else the name in the object, or its generateName if it has no
// name yet, or "Unknown".
func DisplayName(name string, obj map[string]any) string {
	if name != "" {
		return name
	}
	meta := object.Map(obj, "metadata")
	return cmp.Or(object.String(meta, "name"), object.String(meta, "generateName"), "Unknown")
}

package dynamic

import (
	"context"
	"time"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// A Server is what policies and webhooks need of the API server, for one request.
type Server interface {
	// Type returns the type that serves objects of a kind, or nil.
	Type(kind resource.Kind) *resource.Type
	// Authorizer authorizes the user of the request.
	Authorizer() library.Authorizer
	// Call sends a review to a webhook and returns the body of the response.
	Call(ctx context.Context, plugin string, clientConfig map[string]any, timeout time.Duration, review []byte) ([]byte, error)
	// UID returns a new UID for a review.
	UID() string
	// Merge returns a live object of a type with an applied configuration merged
	// into it, in canonical form.
	Merge(t *resource.Type, live, applied map[string]any) (map[string]any, error)
}

// A request is a request and the server that handles it.
type request struct {
	*admission.Attributes
	server Server
	// unconverted is the answer if a webhook has given the object a kind that cannot be converted
	// to the request's. Later webhooks are called with the object before that.
	unconverted *status.Status
}

// A target is the version of a request's resource that a rule matches.
type target struct {
	*resource.Type
	kind resource.Kind // the kind of the object or subresource that is written
}

// target returns the version of the request itself.
func (r *request) target() target { return target{r.Type, r.Codec.Kind()} }

// equivalents returns the other versions that have the resource and subresource.
func (r *request) equivalents() (all []target) {
	for _, t := range r.Type.Versions {
		if t == r.Type {
			continue
		}
		kind := resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}
		if r.Subresource != "" {
			sub := t.Subresource(r.Subresource)
			if sub == nil {
				continue
			}
			kind = sub.Kind
		}
		all = append(all, target{t, kind})
	}
	return all
}

// versioned are the object and the old object of a request in the version of a
// target. Either may be missing.
type versioned struct {
	object map[string]any
	old    object.View
}

// in returns the objects of the request in the version of a target.
func (r *request) in(ctx context.Context, t target) (versioned, error) {
	if t.kind == r.Codec.Kind() {
		return versioned{r.Object, r.Old}, nil
	}
	obj, err := t.Type.ConvertCopy(ctx, object.ViewOf(r.Object))
	if err != nil {
		return versioned{}, err
	}
	old, err := t.Type.ConvertCopy(ctx, r.Old)
	return versioned{obj, object.ViewOf(old)}, err
}

// codec returns the codec of the target's kind.
func (r *request) codec(t target) resource.Codec {
	if t.kind == r.Codec.Kind() {
		return r.Codec
	}
	return t.Codec
}

// replace makes obj, which is in the version of a target, the object of the
// request.
func (r *request) replace(ctx context.Context, t target, obj map[string]any) error {
	if t.kind == r.Codec.Kind() {
		r.Object = obj
		return nil
	}
	converted, err := r.Type.ConvertCopy(ctx, object.ViewOf(obj))
	if err == nil {
		r.Object = converted
	}
	return err
}

// setDefaults sets the defaults, kind and apiVersion of obj and returns it.
func (t target) setDefaults(obj map[string]any) map[string]any {
	if t.Strategy != nil && t.Default != nil && t.kind.Kind == t.Type.Kind {
		t.Default(obj)
	}
	obj["kind"], obj["apiVersion"] = t.kind.Kind, t.kind.GroupVersion.String()
	return obj
}

// isNamespace reports whether the request is for a Namespace.
func (r *request) isNamespace() bool { return r.Type.Group == "" && r.Type.Name == "namespaces" }

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// namespace returns the stored Namespace of the request, which expressions call
// namespaceObject. It is nil for a cluster-scoped resource.
func (r *request) namespace() object.View {
	if r.Namespace == "" || r.isNamespace() {
		return object.View{}
	}
	return r.Reader.Get(namespaceKind, "", r.Namespace)
}

// admissionRequest returns the AdmissionRequest in the version of a target,
// without uid and objects.
func (r *request) admissionRequest(t target) map[string]any {
	out := map[string]any{
		"kind": kindValue(t.kind), "resource": resourceValue(t.Type),
		"requestKind": kindValue(r.Codec.Kind()), "requestResource": resourceValue(r.Type),
		"operation": string(r.Operation), "userInfo": r.User.UserInfo(), "dryRun": r.DryRun,
	}
	for name, v := range map[string]string{
		"subResource": r.Subresource, "requestSubResource": r.Subresource, "name": r.Name, "namespace": r.Namespace,
	} {
		if v != "" {
			out[name] = v
		}
	}
	if r.Options != nil {
		out["options"] = r.Options()
	}
	return out
}

func kindValue(k resource.Kind) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func resourceValue(t *resource.Type) map[string]any {
	return map[string]any{"group": t.Group, "version": t.Version, "resource": t.Name}
}

package admission

import (
	"context"
	"time"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// A Server is what judges of a request turn to.
type Server interface {
	resource.Reader
	// Type returns the type that objects of a kind are served as; nil if they
	// are not.
	Type(kind resource.Kind) *resource.Type
	// Authorizer answers for the user of the request.
	Authorizer() cel.Authorizer
	// Call calls a webhook, as webhook.Client does.
	Call(ctx context.Context, config map[string]any, timeout time.Duration, review []byte) ([]byte, error)
	// UID makes one for a review.
	UID() string
	// Merge is an object of a type with what another one says merged into it.
	Merge(t *resource.Type, live, applied map[string]any) (map[string]any, error)
}

// A target is a version of the resource that is written to, as which a rule
// matches it.
type target struct {
	*resource.Type
	kind resource.Kind // of what is written there
}

// target is the version that the request is made in.
func (r *Attributes) target() target { return target{r.Type, r.Kind} }

// equivalents are the other versions in which the resource has what is written
// to.
func (r *Attributes) equivalents() (all []target) {
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

// A pair is what is written and what was there, in the version of a target.
// Either can be nil.
type pair struct{ object, old map[string]any }

// in are the request's objects in the version of a target.
func (r *Attributes) in(ctx context.Context, t target) (pair, error) {
	if t.kind == r.Kind {
		return pair{r.Object, r.Old}, nil
	}
	object, err := convert(ctx, t.Type, r.Object)
	if err != nil {
		return pair{}, err
	}
	old, err := convert(ctx, t.Type, r.Old)
	return pair{object, old}, err
}

func convert(ctx context.Context, t *resource.Type, obj map[string]any) (map[string]any, error) {
	if obj == nil {
		return nil, nil
	}
	out, err := t.Convert(ctx, []map[string]any{object.Copy(obj)})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// codec reads and writes what is written to a target.
func (r *Attributes) codec(t target) resource.Codec {
	if t.kind == r.Kind {
		return r.Codec
	}
	return t.Codec
}

// replace makes obj, in the version of a target, what is written.
func (r *Attributes) replace(ctx context.Context, t target, obj map[string]any) error {
	if t.kind == r.Kind {
		r.Object = obj
		return nil
	}
	back, err := convert(ctx, r.Type, obj)
	if err == nil {
		r.Object = back
	}
	return err
}

// completed is obj, written to a target, with defaults.
func (t target) completed(obj map[string]any) map[string]any {
	if t.Strategy != nil && t.Default != nil && t.kind.Kind == t.Type.Kind {
		t.Default(obj)
	}
	obj["kind"], obj["apiVersion"] = t.kind.Kind, t.kind.GroupVersion.String()
	return obj
}

// isNamespace reports whether the object is a Namespace.
func (r *Attributes) isNamespace() bool { return r.Type.Group == "" && r.Type.Name == "namespaces" }

// Group is the API group of what is configured.
const Group = "admissionregistration.k8s.io"

// isConfiguration reports whether the request changes what this package does,
// which is not judged by it.
func (r *Attributes) isConfiguration() bool { return r.Type.Group == Group }

// review is what webhooks and expressions are told of the request, but for its
// objects, as one to a target.
func (r *Attributes) review(t target) map[string]any {
	out := map[string]any{
		"kind": kindOf(t.kind), "resource": resourceOf(t.Type),
		"requestKind": kindOf(r.Kind), "requestResource": resourceOf(r.Type),
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
		out["options"] = r.Options
	}
	return out
}

func kindOf(k resource.Kind) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func resourceOf(t *resource.Type) map[string]any {
	return map[string]any{"group": t.Group, "version": t.Version, "resource": t.Name}
}

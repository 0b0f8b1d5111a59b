package admissionregistration

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// authorizeParamKind checks that the author of a policy may read all objects of the kind of its
// parameters: the policy shows what they have.
func authorizeParamKind(w *resource.Write) validation.List {
	kind := object.ViewOf(w.Object).At("spec", "paramKind")
	if kind.IsNil() || kind.Equal(w.Old.At("spec", "paramKind")) {
		return nil
	}
	path := validation.NewPath("spec", "paramKind")
	params, _ := kindOf(kind) // otherwise the author needs the permission for all kinds
	switch allowed, _, err := w.MayRead("get", params, "*", "*"); {
	case err != nil:
		return validation.List{validation.Forbidden(path, err.Error())}
	case !allowed:
		return validation.List{validation.Forbidden(path, fmt.Sprintf(
			`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`, &w.Author.User, kind.String("kind"), kind.String("apiVersion")))}
	}
	return nil
}

// kindOf returns the kind that a paramKind names. ok is false if its apiVersion does not parse.
func kindOf(paramKind object.View) (kind resource.Kind, ok bool) {
	gv, err := resource.ParseGroupVersion(paramKind.String("apiVersion"))
	if err != nil {
		return resource.Kind{}, false
	}
	return resource.Kind{GroupVersion: gv, Kind: paramKind.String("kind")}, true
}

// A bindingKind is what differs in the authorization of the bindings of validating and mutating policies.
type bindingKind struct {
	policy  string // the kind of the policies
	failed  string // the form of the error of an authorizer
	refused string // the form of the error for a user and a verb
}

// authorizeParamRef returns a check that the author of a binding may read the parameters that it names.
func authorizeParamRef(b bindingKind) func(w *resource.Write) validation.List {
	return func(w *resource.Write) validation.List {
		spec := object.ViewOf(w.Object).At("spec")
		ref := spec.At("paramRef")
		if ref.IsNil() {
			return nil
		}
		refused := func(text string) validation.List {
			return validation.List{validation.Forbidden(validation.NewPath("spec", "paramRef"), text)}
		}
		verb := "get"
		if ref.String("name") == "" {
			verb = "list"
		}
		policy := policyOf(w, b.policy, spec.String("policyName"))
		paramKind := policy.At("spec", "paramKind")
		params, parsed := kindOf(paramKind)
		if paramKind.IsNil() {
			params, parsed = resource.Kind{}, true
		}
		allowed, served, err := w.MayRead(verb, params, ref.String("namespace"), ref.String("name"))
		unknown := func(what string) validation.List {
			return refused(fmt.Sprintf("unable to %s to determine minimum required permissions and user %v does not have %q permission for all groups, versions and resources", what, &w.Author.User, verb))
		}
		shown := &struct{ apiVersion, kind string }{paramKind.String("apiVersion"), paramKind.String("kind")}
		switch {
		case err != nil:
			return refused(fmt.Sprintf(b.failed, err))
		case allowed:
			return nil
		case policy.IsNil():
			return unknown("get policy " + spec.String("policyName"))
		case !parsed:
			return unknown(fmt.Sprintf("parse paramKind %v", shown))
		case !paramKind.IsNil() && !served:
			return unknown(fmt.Sprintf("resolve paramKind %v", shown))
		}
		return refused(fmt.Sprintf(b.refused, &w.Author.User, verb))
	}
}

// policyOf returns a policy in a version that is served, or nothing.
func policyOf(w *resource.Write, kind, name string) object.View {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		policy := w.Get(resource.Kind{GroupVersion: resource.GroupVersion{Group: "admissionregistration.k8s.io", Version: version}, Kind: kind}, "", name)
		if !policy.IsNil() {
			return policy
		}
	}
	return object.View{}
}

package authz

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

const selfReviews = "selfsubjectaccessreviews"

// ReviewAccess validates a SubjectAccessReview, LocalSubjectAccessReview or
// SelfSubjectAccessReview of type t, and sets its status. A
// SelfSubjectAccessReview is about the user by. It fails with 422 for an invalid
// review.
func (a Authorizer) ReviewAccess(ctx context.Context, release validation.Release, t *resource.Type, review map[string]any, by *authn.User) error {
	spec := object.Map(review, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	errs := validateAccess(spec, t.Name != selfReviews)
	if t.Namespaced {
		errs = append(errs, validateLocalAccess(t, review, spec)...)
	} else {
		errs = append(errs, validateNoMeta(t, review, "must be empty")...)
	}
	if errs = errs.In(release, t.Group, t.Kind); len(errs) > 0 {
		return status.Invalid(status.GroupKind{Group: t.Group}, "", errs)
	}
	user := by
	if t.Name != selfReviews {
		user = &authn.User{Name: object.String(spec, "user"), UID: object.String(spec, "uid"), Groups: object.Strings(spec, "groups"), Extra: extraOf(spec)}
	}
	at, problem := reviewedAttributes(spec)
	decision := a.Authorize(ctx, user, at)
	out := map[string]any{"allowed": decision.Allowed}
	if decision.Denied {
		out["denied"] = true
	}
	if decision.Reason != "" {
		out["reason"] = decision.Reason
	}
	if decision.Err != nil {
		problem = strings.Trim(decision.Err.Error()+"; "+problem, "; ")
	}
	if problem != "" {
		out["evaluationError"] = problem
	}
	review["status"] = out
	return nil
}

// extraOf returns the extra information of the user of a review. A value that is an empty
// list is not nil.
func extraOf(spec map[string]any) map[string][]string {
	in := object.Map(spec, "extra")
	if len(in) == 0 {
		return nil
	}
	out := make(map[string][]string, len(in))
	for key := range in {
		values := object.Strings(in, key)
		if values == nil && in[key] != nil {
			values = []string{}
		}
		out[key] = values
	}
	return out
}

// reviewedAttributes returns the attributes that a review is about. problem names
// the selectors that do not parse; RBAC ignores selectors.
func reviewedAttributes(spec map[string]any) (at *Attributes, problem string) {
	in := object.Map(spec, "resourceAttributes")
	if in == nil {
		return &Attributes{Path: object.String(spec, "nonResourceAttributes", "path"), Verb: object.String(spec, "nonResourceAttributes", "verb")}, ""
	}
	var problems []string
	for _, s := range []struct {
		name      string
		parse     func(string) error
		supported func(requirement map[string]any) bool
	}{
		{"fieldSelector", parseFields, supportedField},
		{"labelSelector", parseLabels, supportedLabel},
	} {
		if ignored := ignoredPart(object.Map(in, s.name), s.parse, s.supported); ignored != "" {
			problems = append(problems, "spec.resourceAttributes."+s.name+" "+ignored+" due to parse error")
		}
	}
	return &Attributes{
		IsResource: true,
		Verb:       object.String(in, "verb"), Namespace: object.String(in, "namespace"), Name: object.String(in, "name"),
		FieldSelector: selectorOf(object.Map(in, "fieldSelector"), supportedField), LabelSelector: selectorOf(object.Map(in, "labelSelector"), supportedLabel),
		Group: object.String(in, "group"), Version: cmp.Or(object.String(in, "version"), AnyVersion), Resource: object.String(in, "resource"), Subresource: object.String(in, "subresource"),
	}, strings.Join(problems, "; ")
}

// selectorOf returns a selector of a review, without the requirements that are not
// supported: it then selects more, and fewer users may do that.
func selectorOf(in map[string]any, supported func(requirement map[string]any) bool) Selector {
	out := Selector{Raw: object.String(in, "rawSelector")}
	for r := range object.Each(in["requirements"]) {
		if !supported(r) {
			continue
		}
		out.Requirements = append(out.Requirements, Requirement{object.String(r, "key"), object.String(r, "operator"), object.Strings(r, "values")})
	}
	return out
}

func parseFields(raw string) error {
	_, err := selector.ParseFields(raw)
	return err
}

func parseLabels(raw string) error {
	_, err := selector.ParseLabels(raw)
	return err
}

// supportedField reports whether a field selector can express a requirement.
func supportedField(requirement map[string]any) bool {
	op := object.String(requirement, "operator")
	return (op == "In" || op == "NotIn") && len(object.List(requirement, "values")) == 1
}

// supportedLabel reports whether a label selector can express a requirement.
func supportedLabel(requirement map[string]any) bool {
	return slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, object.String(requirement, "operator"))
}

// ignoredPart returns "ignored" or "partially ignored" for a selector that does
// not parse, "" for one that does.
func ignoredPart(s map[string]any, parse func(string) error, supported func(map[string]any) bool) string {
	if text := object.String(s, "rawSelector"); text != "" && parse(text) != nil {
		return "ignored"
	}
	good, bad := 0, 0
	for requirement := range object.Each(s["requirements"]) {
		if supported(requirement) {
			good++
		} else {
			bad++
		}
	}
	switch {
	case bad == 0:
		return ""
	case good == 0:
		return "ignored"
	}
	return "partially ignored"
}

var (
	specPath        = validation.NewPath("spec")
	attributesPath  = specPath.Child("resourceAttributes")
	nonResourcePath = specPath.Child("nonResourceAttributes")
)

// nonResourceOf returns nonResourceAttributes as error messages print it.
func nonResourceOf(spec map[string]any) any {
	return validation.AsGoType("authorization.NonResourceAttributes", spec["nonResourceAttributes"])
}

const neitherOrBoth = "exactly one of nonResourceAttributes or resourceAttributes must be specified"

// validateAccess validates the spec of a review. hasSubject reports whether the
// spec names a user or groups.
func validateAccess(spec map[string]any, hasSubject bool) (errs validation.List) {
	attributes, paths := object.Map(spec, "resourceAttributes"), object.Map(spec, "nonResourceAttributes")
	switch {
	case attributes != nil && paths != nil:
		errs = append(errs, validation.Invalid(specPath, nonResourceOf(spec), neitherOrBoth).
			Before(behavior.DeclarativeErrors, validation.Instead(validation.Invalid(nonResourcePath, nonResourceOf(spec), "cannot be specified in combination with resourceAttributes"))))
	case attributes == nil && paths == nil:
		errs = append(errs, validation.Invalid(specPath, nil, neitherOrBoth).Before(behavior.DeclarativeErrors, validation.Field(attributesPath.String())))
	}
	if hasSubject && object.String(spec, "user") == "" && len(object.List(spec, "groups")) == 0 {
		errs = append(errs, validation.Invalid(specPath.Child("user"), "", "at least one of user or group must be specified"))
	}
	errs = append(errs, validateSelector(object.Map(attributes, "fieldSelector"), attributesPath.Child("fieldSelector"), validateFieldRequirement)...)
	return append(errs, validateSelector(object.Map(attributes, "labelSelector"), attributesPath.Child("labelSelector"), func(requirement map[string]any, path *validation.Path) validation.List {
		return validation.LabelRequirement(requirement, validation.LabelSelectorOptions{UnknownOperators: true}, path)
	})...)
}

// validateSelector validates a selector, which is either text or requirements.
func validateSelector(s map[string]any, path *validation.Path, validateRequirement func(map[string]any, *validation.Path) validation.List) (errs validation.List) {
	if s == nil {
		return nil
	}
	raw, requirements := object.String(s, "rawSelector"), object.List(s, "requirements")
	switch {
	case raw != "" && len(requirements) > 0:
		errs = append(errs, validation.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements"))
	case raw == "" && len(requirements) == 0:
		errs = append(errs, validation.Required(path.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path)))
	}
	for i, v := range requirements {
		m, _ := v.(map[string]any)
		errs = append(errs, validateRequirement(m, path.Child("requirements").Index(i))...)
	}
	return errs
}

func validateFieldRequirement(requirement map[string]any, path *validation.Path) (errs validation.List) {
	if object.String(requirement, "key") == "" {
		errs = append(errs, validation.Required(path.Child("key"), "must be specified"))
	}
	values := object.List(requirement, "values")
	switch object.String(requirement, "operator") {
	case "In", "NotIn":
		if len(values) == 0 {
			errs = append(errs, validation.Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			errs = append(errs, validation.Forbidden(path.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	}
	return errs
}

// validateLocalAccess validates what only a LocalSubjectAccessReview has: one
// namespace, in its metadata and in its spec.
func validateLocalAccess(t *resource.Type, review, spec map[string]any) validation.List {
	errs := validateNoMeta(t, review, "must be empty except for namespace", "namespace")
	if in := object.Map(spec, "resourceAttributes"); in != nil && object.String(in, "namespace") != object.String(review, "metadata", "namespace") {
		errs = append(errs, validation.Invalid(attributesPath.Child("namespace"), object.String(in, "namespace"), "must match metadata.namespace"))
	}
	if object.Map(spec, "nonResourceAttributes") != nil {
		errs = append(errs, validation.Invalid(nonResourcePath, nonResourceOf(spec), "disallowed on this kind of request"))
	}
	return errs
}

// validateNoMeta reports metadata other than the allowed members and managed
// fields.
func validateNoMeta(t *resource.Type, review map[string]any, detail string, allowed ...string) validation.List {
	for name := range object.Meta(review) {
		if name != "managedFields" && !slices.Contains(allowed, name) {
			return validation.List{validation.Invalid(validation.NewPath("metadata"), validation.AsGoType("metav1.ObjectMeta", review["metadata"]), detail)}
		}
	}
	return nil
}

package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	authenticationGroup = "authentication.k8s.io"
	authorizationGroup  = "authorization.k8s.io"
)

// Reviews are questions to the server: a POST is answered, and nothing stored.
// A review gets the question as it was decoded and returns the answer, which
// may be the question with a status.
var reviews = map[status.GroupResource]func(*request, map[string]any) (map[string]any, error){
	{Group: authorizationGroup, Resource: "subjectaccessreviews"}:      (*request).reviewAccess,
	{Group: authorizationGroup, Resource: "localsubjectaccessreviews"}: (*request).reviewAccess,
	{Group: authorizationGroup, Resource: "selfsubjectaccessreviews"}:  (*request).reviewAccess,
	{Group: authorizationGroup, Resource: "selfsubjectrulesreviews"}:   (*request).reviewRules,
	{Group: authenticationGroup, Resource: "tokenreviews"}:             (*request).reviewToken,
	{Group: authenticationGroup, Resource: "selfsubjectreviews"}:       (*request).reviewSelf,
}

// review answers a question. It may be asked in a namespace that is missing.
func (r *request) review() error {
	answer, ok := reviews[r.groupResource()]
	if !ok {
		return status.NotImplemented(fmt.Sprintf("%s %s", r.Verb, r.groupResource()))
	}
	obj, o, err := r.readNew()
	if err != nil {
		return err
	}
	if err := r.mutate(writeObject, obj, nil, o); err != nil {
		return err
	}
	if err := r.validate(obj, nil, o); err != nil {
		return err
	}
	out, err := answer(r, obj)
	if err != nil {
		return err
	}
	out["kind"], out["apiVersion"] = r.typ.Kind, r.typ.GroupVersion.String()
	return r.answerUnstored(out, r.typ.Codec)
}

// answerUnstored answers 201 with an object that is not stored.
func (r *request) answerUnstored(obj map[string]any, codec resource.Codec) error {
	normal, _, err := codec.Normalize(obj, false)
	if err != nil {
		return status.Internal(err.Error())
	}
	return r.answerJSON(http.StatusCreated, append(codec.Append(nil, normal), '\n'), codec.Wire())
}

// reviewSelf tells a user who the server takes it for.
func (r *request) reviewSelf(map[string]any) (map[string]any, error) {
	return map[string]any{
		"metadata": map[string]any{"creationTimestamp": r.now()},
		"status":   map[string]any{"userInfo": r.user.UserInfo()},
	}, nil
}

// reviewToken answers a TokenReview.
func (r *request) reviewToken(obj map[string]any) (map[string]any, error) {
	return obj, r.server.authenticator.ReviewToken(obj)
}

// reviewRules tells a user all that it may do in a namespace.
func (r *request) reviewRules(obj map[string]any) (map[string]any, error) {
	namespace := object.String(obj, "spec", "namespace")
	if namespace == "" {
		return nil, status.BadRequest("no namespace on request")
	}
	rules, errs := r.server.authorizer().Rules(r.user, namespace)
	resources, paths := []any{}, []any{}
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			resources = append(resources, map[string]any{
				"verbs": object.Texts(rule.Verbs), "apiGroups": object.Texts(rule.APIGroups), "resources": object.Texts(rule.Resources), "resourceNames": object.Texts(rule.ResourceNames),
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			paths = append(paths, map[string]any{"verbs": object.Texts(rule.Verbs), "nonResourceURLs": object.Texts(rule.NonResourceURLs)})
		}
	}
	answer := map[string]any{"resourceRules": resources, "nonResourceRules": paths}
	if len(errs) > 0 {
		answer["evaluationError"] = status.Aggregate(errs)
	}
	return map[string]any{"status": answer}, nil
}

// reviewAccess tells whether a user, or who asks, may do something.
func (r *request) reviewAccess(obj map[string]any) (map[string]any, error) {
	spec := object.Map(obj, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	errs := validateAccess(spec, r.Resource != "selfsubjectaccessreviews")
	if r.typ.Namespaced {
		errs = append(errs, r.validateLocalAccess(obj, spec)...)
	} else {
		errs = append(errs, r.validateNoMeta(obj, "must be empty")...)
	}
	if len(errs) > 0 {
		return nil, status.Invalid(status.GroupKind{Group: authorizationGroup}, "", errs)
	}
	user := r.user
	if r.Resource != "selfsubjectaccessreviews" {
		user = &authn.User{Name: object.String(spec, "user"), UID: object.String(spec, "uid"), Groups: object.Strings(spec, "groups")}
	}
	at, problem := accessAttributes(spec)
	decision := r.server.authorizer().Authorize(user, at)
	answer := map[string]any{"allowed": decision.Allowed}
	if decision.Reason != "" {
		answer["reason"] = decision.Reason
	}
	if problem != "" {
		answer["evaluationError"] = problem
	}
	obj["status"] = answer
	return obj, nil
}

// accessAttributes are what a review asks about, and what of its selectors is
// not understood.
func accessAttributes(spec map[string]any) (at *authz.Attributes, problem string) {
	in := object.Map(spec, "resourceAttributes")
	if in == nil {
		return &authz.Attributes{Path: object.String(spec, "nonResourceAttributes", "path"), Verb: object.String(spec, "nonResourceAttributes", "verb")}, ""
	}
	var problems []string
	for _, s := range []struct {
		name     string
		raw      func(string) error
		operable func(requirement map[string]any) bool
	}{
		{"fieldSelector", parsesAsFields, operableField},
		{"labelSelector", parsesAsLabels, operableLabel},
	} {
		if ignored := ignoredPart(object.Map(in, s.name), s.raw, s.operable); ignored != "" {
			problems = append(problems, "spec.resourceAttributes."+s.name+" "+ignored+" due to parse error")
		}
	}
	return &authz.Attributes{
		IsResource: true,
		Verb:       object.String(in, "verb"), Namespace: object.String(in, "namespace"), Name: object.String(in, "name"),
		Group: object.String(in, "group"), Resource: object.String(in, "resource"), Subresource: object.String(in, "subresource"),
	}, strings.Join(problems, "; ")
}

func parsesAsFields(raw string) error {
	_, err := selector.ParseFields(raw)
	return err
}

func parsesAsLabels(raw string) error {
	_, err := selector.ParseLabels(raw)
	return err
}

// operableField reports whether a field selector can express a requirement.
func operableField(requirement map[string]any) bool {
	op := object.String(requirement, "operator")
	return (op == "In" || op == "NotIn") && len(object.List(requirement, "values")) == 1
}

func operableLabel(requirement map[string]any) bool {
	return slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, object.String(requirement, "operator"))
}

// ignoredPart says how much of a selector is not looked at, "" if all is.
func ignoredPart(s map[string]any, raw func(string) error, operable func(map[string]any) bool) string {
	if text := object.String(s, "rawSelector"); text != "" && raw(text) != nil {
		return "ignored"
	}
	good, bad := 0, 0
	for requirement := range object.Each(s["requirements"]) {
		if operable(requirement) {
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
	specPath         = validation.NewPath("spec")
	attributesPath   = specPath.Child("resourceAttributes")
	nonResourcePath  = specPath.Child("nonResourceAttributes")
	attributesNSPath = attributesPath.Child("namespace")
)

// nonResource is how messages print attributes of no resource.
type nonResource struct{ Path, Verb string }

func nonResourceOf(spec map[string]any) nonResource {
	return nonResource{object.String(spec, "nonResourceAttributes", "path"), object.String(spec, "nonResourceAttributes", "verb")}
}

// validateAccess checks what a review asks, and of whom if it is not of who
// asks.
func validateAccess(spec map[string]any, others bool) (errs validation.List) {
	attributes, paths := object.Map(spec, "resourceAttributes"), object.Map(spec, "nonResourceAttributes")
	switch {
	case attributes != nil && paths != nil:
		errs = append(errs, validation.Invalid(nonResourcePath, nonResourceOf(spec), "cannot be specified in combination with resourceAttributes"))
	case attributes == nil && paths == nil:
		errs = append(errs, validation.Invalid(attributesPath, nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if others && object.String(spec, "user") == "" && len(object.List(spec, "groups")) == 0 {
		errs = append(errs, validation.Invalid(specPath.Child("user"), "", "at least one of user or group must be specified"))
	}
	errs = append(errs, validateSelector(object.Map(attributes, "fieldSelector"), attributesPath.Child("fieldSelector"), validateFieldRequirement)...)
	return append(errs, validateSelector(object.Map(attributes, "labelSelector"), attributesPath.Child("labelSelector"), func(requirement map[string]any, path *validation.Path) validation.List {
		return validation.LabelRequirement(requirement, validation.LabelSelectorOptions{UnknownOperators: true}, path)
	})...)
}

// validateSelector checks a selector that is given as text or by requirements.
func validateSelector(s map[string]any, path *validation.Path, requirement func(map[string]any, *validation.Path) validation.List) (errs validation.List) {
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
		errs = append(errs, requirement(m, path.Child("requirements").Index(i))...)
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

// validateLocalAccess checks a review of one namespace, which it names twice.
func (r *request) validateLocalAccess(obj, spec map[string]any) validation.List {
	errs := r.validateNoMeta(obj, "must be empty except for namespace", "namespace")
	if in := object.Map(spec, "resourceAttributes"); in != nil && object.String(in, "namespace") != object.String(obj, "metadata", "namespace") {
		errs = append(errs, validation.Invalid(attributesNSPath, object.String(in, "namespace"), "must match metadata.namespace"))
	}
	if object.Map(spec, "nonResourceAttributes") != nil {
		errs = append(errs, validation.Invalid(nonResourcePath, nonResourceOf(spec), "disallowed on this kind of request"))
	}
	return errs
}

// validateNoMeta refuses metadata but for what is allowed.
func (r *request) validateNoMeta(obj map[string]any, rule string, allowed ...string) validation.List {
	for name := range object.Meta(obj) {
		if name != "managedFields" && !slices.Contains(allowed, name) {
			return validation.List{validation.Invalid(metadataPath, r.printedMeta(obj), rule)}
		}
	}
	return nil
}

// printedMeta is the metadata of a review in the order of its type.
func (r *request) printedMeta(obj map[string]any) json.RawMessage {
	var out struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(r.typ.Codec.Append(nil, obj), &out); err != nil {
		panic("apiserver: an encoded object does not decode: " + err.Error()) // unreachable: the codec writes JSON
	}
	return out.Metadata
}

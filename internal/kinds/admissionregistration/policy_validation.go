package admissionregistration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/jsonpath"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateValidatingPolicy validates a policy whose expressions are compatible with a
// version.
func validateValidatingPolicy(version cel.Version, obj map[string]any) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		expressions := cel.NewPolicy(version, spec.Len("variables") > 0)
		scope := cel.OptionalVariables{Params: spec.Has("paramKind"), Authorizer: true}
		checkPolicySpec(spec, expressions, scope)
		if spec.Len("validations")+spec.Len("auditAnnotations") == 0 {
			for _, name := range []string{"validations", "auditAnnotations"} {
				spec.Required(name, "validations or auditAnnotations must contain at least one item")
			}
			return
		}
		for _, v := range spec.Each("validations") {
			checkPolicyValidation(v, expressions, scope)
		}
		checkAuditAnnotations(spec, object.String(obj, "metadata", "name"), expressions, scope)
	})
}

// validateMutatingPolicy validates a policy whose expressions are compatible with a
// version.
func validateMutatingPolicy(version cel.Version, obj map[string]any) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		expressions := cel.NewPolicy(version, true)
		scope := cel.OptionalVariables{Params: spec.Has("paramKind"), Authorizer: true}
		checkPolicySpec(spec, expressions, scope, checkMutatedOperations)
		if spec.Len("mutations") == 0 {
			spec.Required("mutations", "mutations must contain at least one item")
		}
		for _, m := range spec.Each("mutations") {
			checkMutation(m, expressions, scope)
		}
		spec.RequireOneOf("reinvocationPolicy", "IfNeeded", "Never")
	})
}

// checkPolicySpec checks the fields that validating and mutating policies share.
// The rules are additional checks of matchConstraints.
func checkPolicySpec(spec validation.View, expressions *cel.Policy, scope cel.OptionalVariables, rules ...func(validation.View)) {
	if spec.Has("failurePolicy") {
		spec.OneOf("failurePolicy", "Fail", "Ignore")
	} else {
		spec.Required("failurePolicy", "")
	}
	spec.IfPresent("paramKind", checkParamKind)
	if match, ok := spec.Lookup("matchConstraints"); ok {
		checkMatchResources(match)
		match.Require("resourceRules")
		for _, rule := range rules {
			rule(match)
		}
	} else {
		spec.Required("matchConstraints", "")
	}
	checkMatchConditions(expressions.Version(), spec, scope)
	for _, v := range spec.Each("variables") {
		checkPolicyVariable(v, expressions, scope)
	}
}

// checkParamKind checks the kind of the parameter objects of a policy.
func checkParamKind(kind validation.View) {
	if kind.Require("apiVersion") {
		checkParamVersion(kind, kind.String("apiVersion"))
	}
	if !kind.Require("kind") {
		return
	}
	if messages := validation.DNS1035Label(strings.ToLower(kind.String("kind"))); len(messages) > 0 {
		kind.Invalid("kind", "may have mixed case, but should otherwise match: "+strings.Join(messages, ","))
	}
}

func checkParamVersion(kind validation.View, apiVersion string) {
	path := kind.At("apiVersion")
	gv, err := resource.ParseGroupVersion(apiVersion)
	if err != nil {
		kind.Add(validation.Invalid(path, apiVersion, err.Error()))
		return
	}
	if messages := validation.DNS1123Subdomain(gv.Group); gv.Group != "" && len(messages) > 0 {
		kind.Add(validation.Invalid(path, gv.Group, strings.Join(messages, ",")))
	}
	if gv.Version == "" {
		kind.Add(validation.Invalid(path, apiVersion, "version must be specified"))
	} else if messages := validation.DNS1035Label(gv.Version); len(messages) > 0 {
		kind.Add(validation.Invalid(path, gv.Version, strings.Join(messages, ",")))
	}
}

// checkMatchResources checks which requests a policy or a binding matches.
func checkMatchResources(match validation.View) {
	if match.Has("matchPolicy") {
		match.OneOf("matchPolicy", "Equivalent", "Exact")
	} else {
		match.Required("matchPolicy", "")
	}
	for _, name := range []string{"namespaceSelector", "objectSelector"} {
		if match.Has(name) {
			match.LabelSelector(name, validation.LabelSelectorOptions{})
		} else {
			match.Required(name, "")
		}
	}
	for _, name := range []string{"resourceRules", "excludeResourceRules"} {
		for _, rule := range match.Each(name) {
			checkResourceNames(rule)
			checkOperationsRule(rule)
		}
	}
}

func checkResourceNames(rule validation.View) {
	list := rule.Strings("resourceNames")
	for i, name := range list {
		path := rule.At("resourceNames").Index(i)
		rule.AddList(validation.Each(path, name, validation.PathSegment(name)))
		if slices.Contains(list[:i], name) {
			rule.Add(validation.Duplicate(path, name))
		}
	}
}

// checkMutatedOperations checks that a mutating policy matches only operations that
// have an object to mutate.
func checkMutatedOperations(match validation.View) {
	supported := []string{"*", "CONNECT", "CREATE", "UPDATE"}
	for _, rule := range match.Each("resourceRules") {
		for _, operation := range rule.Strings("operations") {
			if !slices.Contains(supported, operation) {
				match.Add(validation.NotSupported(match.At("resourceRules").Child("operations"), validation.NamedString(operation), supported))
			}
		}
	}
}

// checkMatchConditions checks the match conditions of a webhook or a policy.
func checkMatchConditions(version cel.Version, p validation.View, scope cel.OptionalVariables) {
	const limit = 64
	if n := p.Len("matchConditions"); n > limit {
		p.Add(validation.TooMany(p.At("matchConditions"), n, limit))
	}
	seen := validation.Seen{}
	for _, c := range p.Each("matchConditions") {
		if text := strings.TrimSpace(c.String("expression")); text == "" {
			c.Required("expression", "")
		} else {
			addCompileError(c, "expression", text, cel.NewPolicy(version, false).Check(text, scope, cel.Bool))
		}
		c.RequireFormat("name", validation.QualifiedName)
		if c.String("name") != "" {
			seen.Unique(c, "name")
		}
	}
}

// addCompileError adds err, the error of compiling the expression text, if it is
// not nil.
func addCompileError(p validation.View, name, text string, err error) {
	if err != nil {
		p.Add(cel.Invalid(p.At(name), text, err))
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func checkPolicyVariable(v validation.View, expressions *cel.Policy, scope cel.OptionalVariables) {
	switch name := v.String("name"); {
	case blank(name):
		v.Required("name", "name is not specified")
	case !isIdentifier(name):
		v.Add(validation.Invalid(v.At("name"), name, "must be a valid CEL identifier").Before(behavior.PlainDetails, validation.Detail("name is not a valid CEL identifier")))
	}
	if text := v.String("expression"); blank(text) {
		v.Required("expression", "expression is not specified")
	} else {
		addCompileError(v, "expression", text, expressions.Define(v.String("name"), text, scope))
	}
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$") })

// isIdentifier reports whether name is a CEL identifier that is not reserved.
func isIdentifier(name string) bool {
	switch name {
	case "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
		"import", "let", "loop", "package", "namespace", "return", "var", "void", "while":
		return false
	}
	return identifier().MatchString(name)
}

func checkPolicyValidation(v validation.View, expressions *cel.Policy, scope cel.OptionalVariables) {
	if text := v.String("expression"); blank(text) {
		v.Required("expression", "expression is not specified")
	} else {
		addCompileError(v, "expression", text, expressions.Check(text, scope, cel.Bool))
	}
	if text := v.String("messageExpression"); checkNotBlank(v, "messageExpression") && text != "" {
		addCompileError(v, "messageExpression", text, expressions.Check(text, cel.OptionalVariables{Params: scope.Params}, cel.String))
	}
	if checkNotBlank(v, "message") && strings.ContainsAny(strings.TrimSpace(v.String("message")), "\n\r") {
		v.Add(validation.Invalid(v.At("message"), v.String("message"), "must not contain line breaks").Before(behavior.PlainDetails, validation.Detail("message must not contain line breaks")))
	}
	v.OneOfIfSet("reason", "Forbidden", "Invalid", "RequestEntityTooLarge")
}

// checkNotBlank checks that a field is absent or contains more than white space. It
// reports whether the check passes.
func checkNotBlank(p validation.View, name string) bool {
	if text := p.String(name); text != "" && blank(text) {
		p.Add(validation.Invalid(p.At(name), text, "must be non-empty if specified").Before(behavior.PlainDetails, validation.Detail(name+" must be non-empty if specified")))
		return false
	}
	return true
}

// checkAuditAnnotations checks the audit annotations of a policy. Their keys are
// prefixed with the name of the policy.
func checkAuditAnnotations(spec validation.View, policy string, expressions *cel.Policy, scope cel.OptionalVariables) {
	const (
		limit   = 20
		longest = 5 << 10
	)
	if spec.Len("auditAnnotations") > limit {
		list := validation.AsGoType("[]admissionregistration.AuditAnnotation", spec.Obj["auditAnnotations"])
		spec.Add(validation.Invalid(spec.At("auditAnnotations"), list, fmt.Sprintf("must not have more than %d auditAnnotations", limit)))
	}
	seen := validation.Seen{}
	for _, a := range spec.Each("auditAnnotations") {
		if key := policy + "/" + a.String("key"); policy != "" {
			a.AddList(validation.Each(a.At("key"), key, validation.QualifiedName(key)))
		} else {
			a.Invalid("key", "requires metadata.name be non-empty")
		}
		switch expression := strings.TrimSpace(a.String("valueExpression")); {
		case expression == "":
			a.Required("valueExpression", "valueExpression is not specified")
		case len(expression) > longest:
			a.Required("valueExpression", fmt.Sprintf("must not exceed %d bytes in length", longest))
		default:
			addCompileError(a, "valueExpression", a.String("valueExpression"), expressions.Check(expression, scope, cel.String, cel.Null))
		}
		seen.Unique(a, "key")
	}
}

func checkMutation(m validation.View, expressions *cel.Policy, scope cel.OptionalVariables) {
	scope.PatchTypes = true
	switch typ := m.String("patchType"); typ {
	case "JSONPatch":
		checkMutationOfType(m, typ, "jsonPatch", "applyConfiguration", func(text string) error { return expressions.Check(text, scope, cel.JSONPatches) })
	case "ApplyConfiguration":
		checkMutationOfType(m, typ, "applyConfiguration", "jsonPatch", func(text string) error { return expressions.Check(text, scope, cel.Patch) })
	default:
		m.RequireOneOf("patchType", "ApplyConfiguration", "JSONPatch")
	}
}

// checkMutationOfType checks that a mutation has the field own, which belongs to its
// patch type, and not the field other.
func checkMutationOfType(m validation.View, typ, own, other string, check func(text string) error) {
	if how, ok := m.Lookup(own); !ok {
		m.Required(own, "must be specified when patchType is "+typ)
	} else if text := strings.TrimSpace(how.String("expression")); text == "" {
		how.Required("expression", "")
	} else {
		addCompileError(how, "expression", text, check(text))
	}
	if m.Has(other) {
		m.Add(validation.Invalid(m.At(other), "{"+other+"}", "must not be specified when patchType is "+typ))
	}
}

func validateValidatingPolicyStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		for _, warning := range status.Field("typeChecking").Each("expressionWarnings") {
			warning.Require("warning")
			ref := strings.TrimSpace(warning.String("fieldRef"))
			if ref == "" {
				warning.Required("fieldRef", "")
			} else if _, err := jsonpath.Parse(ref); err != nil {
				warning.Add(validation.Invalid(warning.At("fieldRef"), ref, "invalid JSONPath: "+err.Error()))
			}
		}
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
	})
}

package kinds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/jsonpath"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateValidatingPolicy(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		expressions := cel.NewPolicy(spec.size("variables") > 0)
		scope := cel.OptionalVariables{Params: spec.has("paramKind"), Authorizer: true}
		policySpec(spec, expressions, scope)
		if spec.size("validations")+spec.size("auditAnnotations") == 0 {
			for _, name := range []string{"validations", "auditAnnotations"} {
				spec.missing(name, "validations or auditAnnotations must contain at least one item")
			}
			return
		}
		for _, v := range spec.each("validations") {
			policyValidation(v, expressions, scope)
		}
		auditAnnotations(spec, object.String(obj, "metadata", "name"), expressions, scope)
	})
}

func validateMutatingPolicy(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		expressions := cel.NewPolicy(true)
		scope := cel.OptionalVariables{Params: spec.has("paramKind"), Authorizer: true}
		policySpec(spec, expressions, scope, mutatedOperations)
		if spec.size("mutations") == 0 {
			spec.missing("mutations", "mutations must contain at least one item")
		}
		for _, m := range spec.each("mutations") {
			mutation(m, expressions, scope)
		}
		spec.needsOneOf("reinvocationPolicy", "IfNeeded", "Never")
	})
}

// policySpec checks what policies of both kinds have. The rules are further
// ones for what the policy matches.
func policySpec(spec part, expressions *cel.Policy, scope cel.OptionalVariables, rules ...func(part)) {
	if spec.has("failurePolicy") {
		spec.oneOf("failurePolicy", "Fail", "Ignore")
	} else {
		spec.missing("failurePolicy", "")
	}
	spec.ifGiven("paramKind", paramKind)
	if match, ok := spec.given("matchConstraints"); ok {
		matchResources(match)
		match.needs("resourceRules")
		for _, rule := range rules {
			rule(match)
		}
	} else {
		spec.missing("matchConstraints", "")
	}
	matchConditions(spec, scope)
	for _, v := range spec.each("variables") {
		policyVariable(v, expressions, scope)
	}
}

// paramKind checks the kind of the objects that parametrize a policy.
func paramKind(kind part) {
	if kind.needs("apiVersion") {
		paramVersion(kind, kind.text("apiVersion"))
	}
	if !kind.needs("kind") {
		return
	}
	if messages := validation.DNS1035Label(strings.ToLower(kind.text("kind"))); len(messages) > 0 {
		kind.invalid("kind", "may have mixed case, but should otherwise match: "+strings.Join(messages, ","))
	}
}

func paramVersion(kind part, apiVersion string) {
	path := kind.at("apiVersion")
	gv, err := resource.ParseGroupVersion(apiVersion)
	if err != nil {
		kind.note(validation.Invalid(path, apiVersion, err.Error()))
		return
	}
	if messages := validation.DNS1123Subdomain(gv.Group); gv.Group != "" && len(messages) > 0 {
		kind.note(validation.Invalid(path, gv.Group, strings.Join(messages, ",")))
	}
	if gv.Version == "" {
		kind.note(validation.Invalid(path, apiVersion, "version must be specified"))
	} else if messages := validation.DNS1035Label(gv.Version); len(messages) > 0 {
		kind.note(validation.Invalid(path, gv.Version, strings.Join(messages, ",")))
	}
}

// matchResources checks what a policy or a binding is for.
func matchResources(match part) {
	if match.has("matchPolicy") {
		match.oneOf("matchPolicy", "Equivalent", "Exact")
	} else {
		match.missing("matchPolicy", "")
	}
	for _, name := range []string{"namespaceSelector", "objectSelector"} {
		if match.has(name) {
			match.labelSelector(name, validation.LabelSelectorOptions{})
		} else {
			match.missing(name, "")
		}
	}
	for _, name := range []string{"resourceRules", "excludeResourceRules"} {
		for _, rule := range match.each(name) {
			resourceNames(rule)
			operationsRule(rule)
		}
	}
}

func resourceNames(rule part) {
	list := rule.texts("resourceNames")
	for i, name := range list {
		path := rule.at("resourceNames").Index(i)
		rule.add(validation.Each(path, name, validation.PathSegment(name)))
		if slices.Contains(list[:i], name) {
			rule.note(validation.Duplicate(path, name))
		}
	}
}

// mutatedOperations checks that there is something to mutate.
func mutatedOperations(match part) {
	supported := []string{"*", "CONNECT", "CREATE", "UPDATE"}
	for _, rule := range match.each("resourceRules") {
		for _, operation := range rule.texts("operations") {
			if !slices.Contains(supported, operation) {
				match.note(validation.NotSupported(match.at("resourceRules").Child("operations"), validation.NamedString(operation), supported))
			}
		}
	}
}

// matchConditions checks the expressions that say whether a webhook or a policy
// is for a request.
func matchConditions(p part, scope cel.OptionalVariables) {
	const most = 64
	if n := p.size("matchConditions"); n > most {
		p.note(validation.TooMany(p.at("matchConditions"), n, most))
	}
	seen := names{}
	for _, c := range p.each("matchConditions") {
		if text := strings.TrimSpace(c.text("expression")); text == "" {
			c.missing("expression", "")
		} else {
			c.compiled("expression", text, cel.NewPolicy(false).Check(text, scope, cel.Bool))
		}
		c.needsToBe("name", validation.QualifiedName)
		if c.text("name") != "" {
			seen.unique(c, "name")
		}
	}
}

// compiled notes why an expression does not compile, if it does not.
func (p part) compiled(name, text string, err error) {
	if err != nil {
		p.note(validation.Invalid(p.at(name), text, err.Error()))
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func policyVariable(v part, expressions *cel.Policy, scope cel.OptionalVariables) {
	switch name := v.text("name"); {
	case blank(name):
		v.missing("name", "name is not specified")
	case !isIdentifier(name):
		v.invalid("name", "must be a valid CEL identifier")
	}
	if text := v.text("expression"); blank(text) {
		v.missing("expression", "expression is not specified")
	} else {
		v.compiled("expression", text, expressions.Define(v.text("name"), text, scope))
	}
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$") })

// isIdentifier reports whether an expression can refer to a name.
func isIdentifier(name string) bool {
	switch name {
	case "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
		"import", "let", "loop", "package", "namespace", "return", "var", "void", "while":
		return false
	}
	return identifier().MatchString(name)
}

func policyValidation(v part, expressions *cel.Policy, scope cel.OptionalVariables) {
	if text := v.text("expression"); blank(text) {
		v.missing("expression", "expression is not specified")
	} else {
		v.compiled("expression", text, expressions.Check(text, scope, cel.Bool))
	}
	if text := v.text("messageExpression"); notBlank(v, "messageExpression") && text != "" {
		v.compiled("messageExpression", text, expressions.Check(text, cel.OptionalVariables{Params: scope.Params}, cel.String))
	}
	if notBlank(v, "message") && strings.ContainsAny(strings.TrimSpace(v.text("message")), "\n\r") {
		v.invalid("message", "must not contain line breaks")
	}
	v.ifOneOf("reason", "Forbidden", "Invalid", "RequestEntityTooLarge")
}

// notBlank checks that text has more than spaces, if there is any, and reports
// whether it is fine.
func notBlank(p part, name string) bool {
	if text := p.text(name); text != "" && blank(text) {
		p.invalid(name, "must be non-empty if specified")
		return false
	}
	return true
}

// auditAnnotations checks what a policy adds to the audit log, under keys that
// have its name before them.
func auditAnnotations(spec part, policy string, expressions *cel.Policy, scope cel.OptionalVariables) {
	const (
		most    = 20
		longest = 5 << 10
	)
	if spec.size("auditAnnotations") > most {
		list := internal("[]admissionregistration.AuditAnnotation", spec.obj["auditAnnotations"])
		spec.note(validation.Invalid(spec.at("auditAnnotations"), list, fmt.Sprintf("must not have more than %d auditAnnotations", most)))
	}
	seen := names{}
	for _, a := range spec.each("auditAnnotations") {
		if key := policy + "/" + a.text("key"); policy != "" {
			a.add(validation.Each(a.at("key"), key, validation.QualifiedName(key)))
		} else {
			a.invalid("key", "requires metadata.name be non-empty")
		}
		switch expression := strings.TrimSpace(a.text("valueExpression")); {
		case expression == "":
			a.missing("valueExpression", "valueExpression is not specified")
		case len(expression) > longest:
			a.missing("valueExpression", fmt.Sprintf("must not exceed %d bytes in length", longest))
		default:
			a.compiled("valueExpression", a.text("valueExpression"), expressions.Check(expression, scope, cel.String, cel.Null))
		}
		seen.unique(a, "key")
	}
}

func mutation(m part, expressions *cel.Policy, scope cel.OptionalVariables) {
	scope.PatchTypes = true
	switch typ := m.text("patchType"); typ {
	case "JSONPatch":
		mutationBy(m, typ, "jsonPatch", "applyConfiguration", func(text string) error { return expressions.Check(text, scope, cel.JSONPatches) })
	case "ApplyConfiguration":
		mutationBy(m, typ, "applyConfiguration", "jsonPatch", func(text string) error { return expressions.Check(text, scope, cel.Patch) })
	default:
		m.needsOneOf("patchType", "ApplyConfiguration", "JSONPatch")
	}
}

// mutationBy checks that of the two ways to mutate there is the one that the
// type names.
func mutationBy(m part, typ, own, other string, check func(text string) error) {
	if how, ok := m.given(own); !ok {
		m.missing(own, "must be specified when patchType is "+typ)
	} else if text := strings.TrimSpace(how.text("expression")); text == "" {
		how.missing("expression", "")
	} else {
		how.compiled("expression", text, check(text))
	}
	if m.has(other) {
		m.note(validation.Invalid(m.at(other), "{"+other+"}", "must not be specified when patchType is "+typ))
	}
}

func validateValidatingPolicyStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		for _, warning := range status.within("typeChecking").each("expressionWarnings") {
			warning.needs("warning")
			ref := strings.TrimSpace(warning.text("fieldRef"))
			if ref == "" {
				warning.missing("fieldRef", "")
			} else if _, err := jsonpath.Parse(ref); err != nil {
				warning.note(validation.Invalid(warning.at("fieldRef"), ref, "invalid JSONPath: "+err.Error()))
			}
		}
		status.add(validation.Conditions(object.List(status.obj, "conditions"), status.at("conditions")))
	})
}

func validateValidatingPolicyBinding(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		policyBinding(spec)
		validationActions(spec, spec.texts("validationActions"))
	})
}

func validateMutatingPolicyBinding(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		policyBinding(spec)
		spec.ifGiven("matchResources", mutatedOperations)
	})
}

// policyBinding checks what bindings of both kinds have.
func policyBinding(spec part) {
	spec.needsToBe("policyName", subdomain)
	spec.ifGiven("paramRef", paramRef)
	spec.ifGiven("matchResources", matchResources)
}

// paramRef checks which objects parametrize a policy: one by its name, or all
// that a selector finds.
func paramRef(ref part) {
	const exclusive = "name and selector are mutually exclusive"
	named, selected := ref.text("name") != "", ref.has("selector")
	ref.ifSet("name", validation.PathSegment)
	if named && selected {
		ref.forbid("name", exclusive)
	}
	ref.labelSelector("selector", validation.LabelSelectorOptions{})
	if named && selected {
		ref.forbid("selector", exclusive)
	}
	if !named && !selected {
		ref.note(validation.Required(ref.path, "one of name or selector must be specified"))
	}
	ref.needsOneOf("parameterNotFoundAction", "Deny", "Allow")
}

// validationActions checks what comes of a validation that fails.
func validationActions(spec part, actions []string) {
	path := spec.at("validationActions")
	supported := []string{"Audit", "Deny", "Warn"}
	for i, action := range actions {
		if !slices.Contains(supported, action) {
			spec.note(validation.NotSupported(path.Index(i), validation.NamedString(action), supported))
		}
		if slices.Contains(actions[:i], action) {
			spec.note(validation.Duplicate(path.Index(i), validation.NamedString(action)))
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		spec.invalid("validationActions", "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
	if len(actions) == 0 {
		spec.missing("validationActions", "at least one validation action is required")
	}
}

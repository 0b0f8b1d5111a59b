package resourceapi

import (
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of the API of devices.
const (
	maxDeviceRequests    = 32
	maxDeviceConstraints = 32
	maxDeviceConfigs     = 32
	maxDeviceSelectors   = 32
	maxDeviceChoices     = 8
	maxDeviceConditions  = 8
	maxDeviceConsumers   = 256
	maxDeviceIPs         = 16
	maxBindingConditions = 4

	maxSelectorLength   = 10 << 10
	maxParametersLength = 10 << 10
	maxAttributeLength  = 64
	maxIdentifierLength = 32
	maxDomainLength     = 63 // of a name that declarative validation checks
	maxInterfaceLength  = 256
	maxHardwareLength   = 128
)

// deviceRules are the rules for requests of devices.
type deviceRules struct{ selectors cel.DeviceSelectors }

func newDeviceRules(r *release.Release) deviceRules {
	return deviceRules{cel.DeviceSelectors{
		Version:            cel.NewExpressions(r.Minor()),
		ConsumableCapacity: r.Enabled("DRAConsumableCapacity"),
		ListTypeAttributes: r.Enabled("DRAListTypeAttributes"),
	}}
}

// validateClaim checks a claim. Updates cannot change the spec.
func (d deviceRules) validateClaim(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(claim validation.View) {
		spec := claim.Field("spec")
		if old.IsNil() {
			d.checkClaim(spec.Field("devices"))
		} else {
			checkImmutable(spec, old.At("spec"), "resource.ResourceClaimSpec")
			claim.AddList(validation.Collect(spec.Field("devices").Obj, spec.At("devices"), d.checkClaim).Until(behavior.UpdatesOnce))
		}
	})
}

func (d deviceRules) validateClaimTemplate(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(template validation.View) {
		spec := template.Field("spec")
		d.checkTemplateSpec(spec)
		if !old.IsNil() {
			template.ImmutableAs("spec", "resource.ResourceClaimTemplateSpec", old)
			template.AddList(validation.Collect(spec.Obj, spec.Path, d.checkTemplateSpec).Until(behavior.UpdatesOnce)) // once more
		}
	})
}

func (d deviceRules) checkTemplateSpec(spec validation.View) {
	kind.CheckTemplateMeta(spec.Field("metadata"))
	d.checkClaim(spec.Field("spec").Field("devices"))
}

// checkClaim checks the requests, constraints and configuration of devices.
func (d deviceRules) checkClaim(devices validation.View) {
	requests := deviceRequestNames(devices.Obj)
	constrained := constrainedAttributes(devices.Obj)
	checkKeyedItems(devices, "requests", requestList, func(request validation.View) { d.checkRequest(request, constrained) })
	checkItems(devices, "constraints", maxDeviceConstraints, func(constraint validation.View) {
		checkUniqueStrings(constraint, "requests", maxDeviceRequests, requests.check)
		checkDeviceConstraint(constraint)
	})
	checkItems(devices, "config", maxDeviceConfigs, func(config validation.View) {
		checkUniqueStrings(config, "requests", maxDeviceRequests, requests.check)
		checkOpaqueConfig(config)
	})
}

// deviceRequests are the names of requests and, as "request/subrequest", of their
// subrequests.
type deviceRequests map[string]bool

func deviceRequestNames(devices map[string]any) deviceRequests {
	out := deviceRequests{}
	for request := range object.Each(devices["requests"]) {
		name := object.String(request, "name")
		out[name] = true
		for choice := range object.Each(request["firstAvailable"]) {
			out[name+"/"+object.String(choice, "name")] = true
		}
	}
	return out
}

// check checks a reference to a request.
func (r deviceRequests) check(name string, path *validation.Path) validation.List {
	const rule = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	if strings.Count(name, "/") > 1 {
		return validation.List{validation.Invalid(path, name, rule)}
	}
	var list validation.List
	for _, segment := range strings.Split(name, "/") {
		list = append(list, validation.Each(path, segment, validation.DNS1123Label(segment))...)
	}
	if !r[name] {
		list = append(list, validation.Invalid(path, name, rule))
	}
	return list
}

func (d deviceRules) checkRequest(request validation.View, constrained constrainedSet) {
	request.Format("name", validation.DNS1123Label)
	exactly, exact := request.Lookup("exactly")
	choices := request.Len("firstAvailable") > 0
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	checkChoices := func(request validation.View) {
		checkKeyedItems(request, "firstAvailable", choiceList, func(choice validation.View) {
			choice.Format("name", validation.DNS1123Label)
			choice.Declarative(func(p validation.View) { p.RequireFormat("deviceClassName", validation.LongName) })
			d.checkDevices(choice)
			checkDerivedAttributes(choice, request.String("name")+"/"+choice.String("name"), constrained)
		})
	}
	switch {
	case exact && choices:
		request.AddList(validation.Collect(request.Obj, request.Path, checkChoices).Until(behavior.DeclarativeDevices))
		request.AddList(validation.Collect(exactly.Obj, exactly.Path, d.checkExactRequest).Until(behavior.DeclarativeDevices))
		request.Add(validation.Invalid(request.Path, nil, one+", but multiple fields are set"))
	case exact:
		d.checkExactRequest(exactly)
		checkDerivedAttributes(exactly, request.String("name"), constrained)
	case choices:
		checkChoices(request)
	default:
		request.Add(validation.Required(request.Path, one))
	}
}

// checkExactRequest checks the fields of an exact request.
func (d deviceRules) checkExactRequest(request validation.View) {
	request.RequireFormat("deviceClassName", validation.DNS1123Subdomain)
	d.checkDevices(request)
}

// checkDevices checks which devices an exact request or a subrequest asks for.
func (d deviceRules) checkDevices(request validation.View) {
	checkItems(request, "selectors", maxDeviceSelectors, d.checkSelector)
	switch mode := request.String("allocationMode"); {
	case mode == "All" && request.Int("count") != 0:
		request.Invalid("count", "must not be specified when allocationMode is 'All'")
	case mode == "ExactCount":
		request.Positive("count")
	default:
		request.Declarative(func(p validation.View) { p.OneOf("allocationMode", "All", "ExactCount") })
	}
	for _, toleration := range request.Each("tolerations") {
		checkDeviceToleration(toleration)
	}
}

func (d deviceRules) checkSelector(selector validation.View) {
	expression, ok := selector.Lookup("cel")
	switch {
	case !ok:
		selector.Required("cel", "")
	case len(expression.String("expression")) > maxSelectorLength:
		expression.Add(validation.TooLong(expression.At("expression"), maxSelectorLength))
	default:
		if err := d.selectors.Check(expression.String("expression"), expression.At("expression")); err != nil {
			expression.Add(err)
		}
	}
}

var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

// checkDeclaredToleration has the rules of declarative validation for a toleration.
func checkDeclaredToleration(toleration validation.View) {
	toleration.FormatIfSet("key", validation.QualifiedName)
	toleration.RequireOneOf("operator", "Equal", "Exists")
	if toleration.String("effect") != "" {
		toleration.OneOf("effect", deviceEffects...)
	}
}

func checkDeviceToleration(toleration validation.View) {
	toleration.Declarative(func(p validation.View) { p.FormatIfSet("key", validation.QualifiedName) })
	switch toleration.String("operator") {
	case "Exists":
		if toleration.String("value") != "" {
			toleration.Invalid("value", "must be empty for operator `Exists`")
		}
	case "Equal":
		toleration.Format("value", validation.LabelValue)
	default:
		toleration.Declarative(func(p validation.View) { p.RequireOneOf("operator", "Equal", "Exists") })
	}
	if toleration.String("effect") != "" {
		toleration.Declarative(func(p validation.View) { p.OneOf("effect", deviceEffects...) })
	}
}

func checkDeviceConstraint(constraint validation.View) {
	switch {
	case constraint.Has("matchAttribute"):
		constraint.Declarative(func(p validation.View) { checkFullAttributeName(p, "matchAttribute") })
		if constraint.Has("distinctAttribute") {
			constraint.AddList(validation.Collect(constraint.Obj, constraint.Path, func(constraint validation.View) {
				checkFullAttributeName(constraint, "distinctAttribute")
			}).Since(behavior.DistinctAttributeNames).Declarative())
		}
	case constraint.Has("distinctAttribute"):
		constraint.Declarative(func(p validation.View) { checkFullAttributeName(p, "distinctAttribute") })
	default:
		constraint.Add(validation.Required(constraint.Path, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`).
			WithGate("DRAConsumableCapacity", validation.Required(constraint.At("matchAttribute"), "")))
	}
}

// checkFullAttributeName checks the name of an attribute with its domain.
func checkFullAttributeName(p validation.View, name string) {
	p.AddList(attributeName(p.String(name), p.At(name)).Until(behavior.DeclarativeErrors))
	p.AddList(declaredName.check(p.String(name), p.At(name)).Since(behavior.DeclarativeErrors))
	if text := p.String(name); !strings.Contains(text, "/") {
		at := p.At(name)
		err := validation.Invalid(at, validation.NamedString(text), "a fully qualified name must be a domain and a name separated by a slash")
		if text == "" {
			p.Add(err.Since(behavior.DeclarativeDevices))
		} else {
			p.Add(err.Before(behavior.DeclarativeDevices, validation.Detail("must include a domain")))
		}
	}
}

// attributeName checks the name of an attribute or a capacity, which may have a domain.
func attributeName(name string, path *validation.Path) validation.List {
	return handwrittenName.check(name, path)
}

// A nameRule checks the name of an attribute or a capacity.
type nameRule struct {
	emptyDomain, emptyName string
	domain                 func(domain string, path *validation.Path) validation.List
}

var (
	handwrittenName = nameRule{"the domain must not be empty", "the name must not be empty", volumes.DriverName}
	// declaredName is the rule of declarative validation.
	declaredName = nameRule{"prefix must not be empty", "name must not be empty", func(domain string, path *validation.Path) validation.List {
		var list validation.List
		if len(domain) > maxDomainLength {
			list = append(list, validation.TooLong(path, maxDomainLength))
		}
		for _, message := range validation.LongName(domain) {
			list = append(list, validation.Invalid(path, domain, "prefix: "+message))
		}
		return list
	}}
)

// check checks a name. Names with several slashes are valid, as in kube-apiserver.
func (r nameRule) check(name string, path *validation.Path) validation.List {
	domain, id, qualified := strings.Cut(name, "/")
	switch {
	case name == "":
		return append(attributeIdentifier(name, path).Since(behavior.DeclarativeDevices), validation.Required(path, "name required").Until(behavior.DeclarativeDevices))
	case !qualified:
		return attributeIdentifier(name, path)
	case strings.Contains(id, "/"):
		return nil
	}
	var list validation.List
	if domain == "" {
		list = append(list, emptyName(path, r.emptyDomain))
	} else {
		list = append(list, r.domain(domain, path)...)
	}
	if id == "" {
		return append(list, emptyName(path, r.emptyName))
	}
	return append(list, attributeIdentifier(id, path)...)
}

// emptyName returns the error for a part of the name of an attribute that is empty.
func emptyName(path *validation.Path, why string) *validation.Error {
	return validation.Invalid(path, "", why).Before(behavior.DeclarativeDevices, validation.Instead(validation.Required(path, why)))
}

func attributeIdentifier(id string, path *validation.Path) validation.List {
	var list validation.List
	if len(id) > maxIdentifierLength {
		list = append(list, validation.TooLong(path, maxIdentifierLength))
	}
	return append(list, validation.Each(path, id, validation.CIdentifier(id))...)
}

// checkOpaqueConfig checks the opaque parameters of a driver.
func checkOpaqueConfig(config validation.View) {
	opaque, ok := config.Lookup("opaque")
	if !ok {
		config.Required("opaque", "")
		return
	}
	volumes.CheckDeclaredDriverName(opaque, "driver")
	checkRawObject(opaque, "parameters")
}

// checkRawObject checks an object of unknown type.
func checkRawObject(p validation.View, name string) {
	v := p.Obj[name]
	if v == nil {
		p.Required(name, "")
		return
	}
	if text, _ := v.(object.RawJSON); len(text) > maxParametersLength {
		p.Add(validation.TooLong(p.At(name), maxParametersLength))
	} else if _, ok := text.Value().(map[string]any); !ok {
		p.Add(validation.Invalid(p.At(name), "<value omitted>", "must be a valid JSON object"))
	}
}

// checkPoolName checks the name of a pool: subdomains separated by slashes.
func checkPoolName(p validation.View, name string) {
	checkSegments(p, name, func(_ int, segment, detail string) *validation.Error {
		return validation.Invalid(p.At(name), segment, detail)
	})
}

// checkSegments is checkPoolName with other errors of the segments.
func checkSegments(p validation.View, name string, wrong func(i int, segment, detail string) *validation.Error) {
	if !p.Require(name) {
		return
	}
	pool := p.String(name)
	if len(pool) > validation.DNS1123SubdomainMaxLength {
		p.Add(validation.TooLong(p.At(name), validation.DNS1123SubdomainMaxLength))
	}
	for i, segment := range strings.Split(pool, "/") {
		for _, detail := range validation.DNS1123Subdomain(segment) {
			p.Add(wrong(i, segment, detail))
		}
	}
}

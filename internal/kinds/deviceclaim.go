package kinds

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of the API of devices.
const (
	mostDeviceRequests    = 32
	mostDeviceConstraints = 32
	mostDeviceConfigs     = 32
	mostDeviceSelectors   = 32
	mostDeviceChoices     = 8
	mostDeviceConditions  = 8
	mostDeviceConsumers   = 256
	mostDeviceIPs         = 16
	mostBindingConditions = 4

	longestSelector   = 10 << 10
	longestParameters = 10 << 10
	longestAttribute  = 64
	longestIdentifier = 32
	longestInterface  = 256
	longestHardware   = 128
)

// validateResourceClaim checks a claim. What it asks for stays.
func validateResourceClaim(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(claim part) {
		spec := claim.within("spec")
		if old == nil {
			deviceClaim(spec.within("devices"))
		} else {
			fixed(spec, object.Map(old, "spec"), "resource.ResourceClaimSpec")
		}
	})
}

func validateResourceClaimTemplate(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(template part) {
		spec := template.within("spec")
		templateMeta(spec.within("metadata"))
		deviceClaim(spec.within("spec").within("devices"))
		if old != nil {
			fixed(spec, object.Map(old, "spec"), "resource.ResourceClaimTemplateSpec")
		}
	})
}

// fixed checks that a part is as it was; its type is what messages print it by.
func fixed(p part, old map[string]any, typ string) {
	if !validation.Equal(p.obj, old) {
		p.note(validation.Invalid(p.path, internal(typ, p.obj), "field is immutable"))
	}
}

// fits checks the length of a list, and reports whether its items may be
// looked at.
func (p part) fits(name string, most int) bool {
	if n := p.size(name); n > most {
		p.note(validation.TooMany(p.at(name), n, most))
		return false
	}
	return true
}

// parts checks the objects of a list of at most so many.
func (p part) parts(name string, most int, rule func(part)) {
	if p.fits(name, most) {
		for _, item := range p.each(name) {
			rule(item)
		}
	}
}

// namedParts is parts for objects that a member tells apart.
func (p part) namedParts(name string, most int, key string, rule func(part)) {
	if !p.fits(name, most) {
		return
	}
	p.parts(name, most, rule)
	seen := map[string]bool{}
	for _, item := range p.each(name) {
		value := item.text(key)
		if seen[value] {
			p.note(validation.Duplicate(item.path, value))
		}
		seen[value] = true
	}
}

// distinctTexts checks the strings of a list of at most so many, all different.
func (p part) distinctTexts(name string, most int, rule func(text string, path *validation.Path) validation.List) {
	if !p.fits(name, most) {
		return
	}
	list := p.texts(name)
	for i, text := range list {
		p.add(rule(text, p.at(name).Index(i)))
	}
	for i, text := range list {
		if slices.Contains(list[:i], text) {
			p.note(validation.Duplicate(p.at(name).Index(i), text))
		}
	}
}

// deviceClaim checks what devices a claim asks for.
func deviceClaim(devices part) {
	requests := deviceRequestNames(devices.obj)
	devices.namedParts("requests", mostDeviceRequests, "name", deviceRequest)
	devices.parts("constraints", mostDeviceConstraints, func(constraint part) {
		constraint.distinctTexts("requests", mostDeviceRequests, requests.check)
		deviceConstraint(constraint)
	})
	devices.parts("config", mostDeviceConfigs, func(config part) {
		config.distinctTexts("requests", mostDeviceRequests, requests.check)
		opaqueConfig(config)
	})
}

// deviceRequests are the names of requests: of the whole ones, and after a slash
// of their choices.
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
	for segment := range strings.SplitSeq(name, "/") {
		list = append(list, validation.Each(path, segment, validation.DNS1123Label(segment))...)
	}
	if !r[name] {
		list = append(list, validation.Invalid(path, name, rule))
	}
	return list
}

func deviceRequest(request part) {
	request.is("name", validation.DNS1123Label)
	exactly, exact := request.given("exactly")
	choices := request.size("firstAvailable") > 0
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	switch {
	case exact && choices:
		request.note(validation.Invalid(request.path, nil, one+", but multiple fields are set"))
	case exact:
		deviceWish(exactly)
	case choices:
		request.namedParts("firstAvailable", mostDeviceChoices, "name", func(choice part) {
			choice.is("name", validation.DNS1123Label)
			deviceWish(choice)
		})
	default:
		request.note(validation.Required(request.path, one))
	}
}

// deviceWish checks what a request, or one of its choices, asks for.
func deviceWish(wish part) {
	wish.needsToBe("deviceClassName", validation.DNS1123Subdomain)
	wish.parts("selectors", mostDeviceSelectors, deviceSelector)
	switch mode := wish.text("allocationMode"); {
	case mode == "All" && wish.integer("count") != 0:
		wish.invalid("count", "must not be specified when allocationMode is 'All'")
	case mode == "ExactCount":
		wish.positive("count")
	default:
		wish.oneOf("allocationMode", "All", "ExactCount")
	}
	for _, toleration := range wish.each("tolerations") {
		deviceToleration(toleration)
	}
}

func deviceSelector(selector part) {
	expression, ok := selector.given("cel")
	switch {
	case !ok:
		selector.missing("cel", "")
	case len(expression.text("expression")) > longestSelector:
		expression.note(validation.TooLong(expression.at("expression"), longestSelector))
	default:
		if err := cel.CheckDeviceSelector(expression.text("expression"), expression.at("expression")); err != nil {
			expression.note(err)
		}
	}
}

var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

func deviceToleration(toleration part) {
	toleration.ifSet("key", validation.QualifiedName)
	switch toleration.text("operator") {
	case "Exists":
		if toleration.text("value") != "" {
			toleration.invalid("value", "must be empty for operator `Exists`")
		}
	case "Equal":
		toleration.is("value", validation.LabelValue)
	default:
		toleration.needsOneOf("operator", "Equal", "Exists")
	}
	if toleration.text("effect") != "" {
		toleration.oneOf("effect", deviceEffects...)
	}
}

func deviceConstraint(constraint part) {
	switch {
	case constraint.has("matchAttribute"):
		fullAttributeName(constraint, "matchAttribute")
	case constraint.has("distinctAttribute"):
		fullAttributeName(constraint, "distinctAttribute")
	default:
		constraint.note(validation.Required(constraint.path, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
	}
}

// fullAttributeName checks the name of an attribute with its domain.
func fullAttributeName(p part, name string) {
	p.add(attributeName(p.text(name), p.at(name)))
	if !strings.Contains(p.text(name), "/") {
		p.invalidEnum(name, "a fully qualified name must be a domain and a name separated by a slash")
	}
}

// attributeName checks the name of an attribute or a capacity, which may have a
// domain. Names with several slashes are let pass.
func attributeName(name string, path *validation.Path) validation.List {
	domain, id, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		return attributeIdentifier(name, path)
	case strings.Contains(id, "/"):
		return nil
	}
	var list validation.List
	if domain == "" {
		list = append(list, validation.Invalid(path, "", "the domain must not be empty"))
	} else {
		list = append(list, driverName(domain, path)...)
	}
	if id == "" {
		return append(list, validation.Invalid(path, "", "the name must not be empty"))
	}
	return append(list, attributeIdentifier(id, path)...)
}

func attributeIdentifier(id string, path *validation.Path) validation.List {
	var list validation.List
	if len(id) > longestIdentifier {
		list = append(list, validation.TooLong(path, longestIdentifier))
	}
	return append(list, validation.Each(path, id, validation.CIdentifier(id))...)
}

// opaqueConfig checks parameters that only a driver understands.
func opaqueConfig(config part) {
	opaque, ok := config.given("opaque")
	if !ok {
		config.missing("opaque", "")
		return
	}
	csiDriverName(opaque, "driver")
	rawObject(opaque, "parameters")
}

// rawObject checks an object of unknown type.
func rawObject(p part, name string) {
	v := p.obj[name]
	if v == nil {
		p.missing(name, "")
		return
	}
	if text, err := json.Marshal(v); err == nil && len(text) > longestParameters {
		p.note(validation.TooLong(p.at(name), longestParameters))
	} else if _, ok := v.(map[string]any); !ok {
		p.note(validation.Invalid(p.at(name), "<value omitted>", "must be a valid JSON object"))
	}
}

func validateDeviceClass(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		spec.parts("selectors", mostDeviceSelectors, deviceSelector)
		spec.parts("config", mostDeviceConfigs, opaqueConfig)
		if name := spec.text("extendedResourceName"); spec.has("extendedResourceName") && !isExtendedResource(name) {
			spec.invalid("extendedResourceName", "must be a valid extended resource name")
		}
	})
}

// prepareResourceClaimStatus drops what is told of devices that the claim gives
// back.
func prepareResourceClaimStatus(obj, old map[string]any) {
	statusOnly.prepare(obj, old)
	status := object.Map(obj, "status")
	if status["devices"] == nil {
		return
	}
	held, given := allocatedDevices(status), allocatedDevices(object.Map(old, "status"))
	kept := slices.DeleteFunc(slices.Clone(object.List(status, "devices")), func(v any) bool {
		device, _ := v.(map[string]any)
		id := deviceIDOf(device)
		return given[id] && !held[id]
	})
	if len(kept) == 0 {
		delete(status, "devices")
	} else {
		status["devices"] = kept
	}
}

// A deviceID names a device, or a share of one.
type deviceID struct{ Driver, Pool, Device, ShareID string }

func deviceIDOf(device map[string]any) deviceID {
	return deviceID{object.String(device, "driver"), object.String(device, "pool"), object.String(device, "device"), object.String(device, "shareID")}
}

func allocatedDevices(status map[string]any) map[deviceID]bool {
	out := map[deviceID]bool{}
	for result := range object.Each(object.Value(status, "allocation", "devices", "results")) {
		out[deviceIDOf(result)] = true
	}
	return out
}

// validateResourceClaimStatus checks what a claim got, and who uses it. What it
// got stays until it is given back.
func validateResourceClaimStatus(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		before := object.Map(old, "status")
		status.namedParts("reservedFor", mostDeviceConsumers, "uid", func(consumer part) {
			consumer.needsEach("resource", "name", "uid")
		})
		deviceStatuses(status)
		allocation, allocated := status.given("allocation")
		if consumers := object.List(status.obj, "reservedFor"); len(consumers) > 0 {
			switch {
			case !allocated:
				status.forbid("reservedFor", "may not be specified when `allocated` is not set")
			case object.Value(obj, "metadata", "deletionTimestamp") != nil && joined(consumers, object.List(before, "reservedFor")):
				status.forbid("reservedFor", "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
			}
		}
		switch {
		case !allocated:
		case before["allocation"] != nil:
			fixed(allocation, object.Map(before, "allocation"), "resource.AllocationResult")
		default:
			deviceAllocation(allocation, deviceRequestNames(object.Map(obj, "spec", "devices")))
		}
	})
}

// joined reports whether a list has something that the one before had not.
func joined(list, before []any) bool {
	return slices.ContainsFunc(list, func(v any) bool {
		return !slices.ContainsFunc(before, func(w any) bool { return validation.Equal(v, w) })
	})
}

// deviceStatuses checks what drivers tell of devices.
func deviceStatuses(status part) {
	allocated := allocatedDevices(status.obj)
	for _, device := range status.each("devices") {
		deviceAddress(device)
		if id := deviceIDOf(device.obj); !allocated[id] {
			device.note(validation.Invalid(device.path, id, "must be an allocated device in the claim"))
		}
		device.fits("conditions", mostDeviceConditions)
		device.add(validation.Conditions(object.List(device.obj, "conditions"), device.at("conditions")))
		if device.has("data") {
			rawObject(device, "data")
		}
		device.ifGiven("networkData", deviceNetwork)
	}
	seen := map[deviceID]bool{}
	for _, device := range status.each("devices") {
		id := deviceIDOf(device.obj)
		if seen[id] {
			status.note(validation.Duplicate(device.path, id))
		}
		seen[id] = true
	}
}

// deviceAddress checks where a device is found.
func deviceAddress(device part) {
	csiDriverName(device, "driver")
	poolName(device, "pool")
	device.is("device", validation.DNS1123Label)
	if device.has("shareID") {
		shareID(device)
	}
}

// poolName checks the name of a pool: subdomains with slashes between them.
func poolName(p part, name string) {
	pool := p.text(name)
	if !p.needs(name) {
		return
	}
	if len(pool) > validation.DNS1123SubdomainMaxLength {
		p.note(validation.TooLong(p.at(name), validation.DNS1123SubdomainMaxLength))
	}
	for segment := range strings.SplitSeq(pool, "/") {
		p.add(validation.Each(p.at(name), segment, validation.DNS1123Subdomain(segment)))
	}
}

func shareID(device part) {
	id := device.text("shareID")
	if wrong := uuidError(id); wrong != "" {
		device.invalid("shareID", "error validating uid: "+wrong)
	} else if len(validation.UUID(id)) > 0 {
		device.invalid("shareID", "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
	}
}

// uuidError says what is wrong with a UUID in any of its forms: plain, without
// dashes, in braces or as a URN.
func uuidError(s string) string {
	const plain = len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	switch len(s) {
	case plain:
	case plain + len("urn:uuid:"):
		if !strings.EqualFold(s[:len("urn:uuid:")], "urn:uuid:") {
			return fmt.Sprintf("invalid urn prefix: %q", s[:len("urn:uuid:")])
		}
		s = s[len("urn:uuid:"):]
	case plain + len("{}"):
		if s[0] != '{' || s[len(s)-1] != '}' {
			return "invalid bracketed UUID format"
		}
		s = s[1 : len(s)-1]
	case plain - len("----"):
		s = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	default:
		return fmt.Sprintf("invalid UUID length: %d", len(s))
	}
	if len(validation.UUID(strings.ToLower(s))) > 0 {
		return "invalid UUID format"
	}
	return ""
}

func deviceNetwork(network part) {
	if len(network.text("interfaceName")) > longestInterface {
		network.note(validation.TooLong(network.at("interfaceName"), longestInterface))
	}
	if len(network.text("hardwareAddress")) > longestHardware {
		network.note(validation.TooLong(network.at("hardwareAddress"), longestHardware))
	}
	network.distinctTexts("ips", mostDeviceIPs, validation.InterfaceAddress)
}

// deviceAllocation checks what a claim gets.
func deviceAllocation(allocation part, requests deviceRequests) {
	devices := allocation.within("devices")
	devices.parts("results", mostDeviceRequests, func(result part) {
		result.add(requests.check(result.text("request"), result.at("request")))
		csiDriverName(result, "driver")
		poolName(result, "pool")
		result.is("device", validation.DNS1123Label)
		bindingConditions(result)
		if result.has("shareID") {
			shareID(result)
		}
	})
	devices.parts("config", 2*mostDeviceConfigs, func(config part) {
		config.needsOneOf("source", "FromClaim", "FromClass")
		config.distinctTexts("requests", mostDeviceRequests, requests.check)
		opaqueConfig(config)
	})
	allocation.ifGiven("nodeSelector", nodeSelector)
}

// bindingConditions checks the conditions that a device has to meet, and those
// that it must not, before a pod is bound. There are both or neither.
func bindingConditions(p part) {
	const wanted, unwanted = "bindingConditions", "bindingFailureConditions"
	for _, name := range []string{wanted, unwanted} {
		if p.fits(name, mostBindingConditions) {
			p.eachText(name, validation.QualifiedName)
		}
	}
	conditions, failures := p.texts(wanted), p.texts(unwanted)
	for i, c := range conditions {
		if slices.Contains(conditions[:i], c) {
			p.note(validation.Duplicate(p.at(wanted).Index(i), c))
		}
	}
	for i, c := range failures {
		if slices.Contains(failures[:i], c) {
			p.note(validation.Duplicate(p.at(unwanted).Index(i), c))
		}
		if slices.Contains(conditions, c) {
			p.note(validation.Invalid(p.at(unwanted).Index(i), c, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	if len(conditions) == 0 && len(failures) > 0 {
		p.invalid(wanted, "bindingConditions are required to use bindingFailureConditions")
	}
	if len(failures) == 0 && len(conditions) > 0 {
		p.invalid(unwanted, "bindingFailureConditions are required to use bindingConditions")
	}
}

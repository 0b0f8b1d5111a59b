package kinds

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of a slice of devices.
const (
	mostDevices           = 128
	mostElaborateDevices  = 64 // with taints or counters
	mostCounterSets       = 8
	mostCounters          = 32
	mostConsumptions      = 2
	mostDeviceTaints      = 16
	mostAttributes        = 32
	mostAttributeValues   = 48
	mostCapacityOptions   = 10
	longestAttributeName  = 63 + 1 + longestIdentifier
	mostTaintRuleStatuses = 8
)

func validateResourceSlice(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		before := object.Map(old, "spec")
		csiDriverName(spec, "driver")
		pool := spec.within("pool")
		resourcePool(pool)
		if old != nil {
			pool.unchanged(object.Map(before, "pool"), "name")
			spec.unchanged(before, "driver", "nodeName")
		}
		sliceNodes(spec)
		if spec.has("sharedCounters") && spec.has("devices") {
			spec.note(validation.Invalid(spec.path, "", "only one of `sharedCounters` or `devices` is allowed"))
		}
		spec.namedParts("devices", devicesAllowed(spec), "name", func(device part) {
			sliceDevice(device, deviceNamed(before, device.text("name")), spec.flag("perDeviceNodeSelection"))
		})
		spec.namedParts("sharedCounters", mostCounterSets, "name", func(set part) {
			set.needsToBe("name", validation.DNS1123Label)
			counters(set)
		})
	})
}

func resourcePool(pool part) {
	poolName(pool, "name")
	pool.positive("resourceSliceCount")
	if pool.integer("generation") < 0 {
		pool.invalid("generation", "must be greater than or equal to zero")
	}
}

// sliceNodes checks from which nodes the devices can be reached: it is said in
// one way.
func sliceNodes(spec part) {
	var ways []string
	if spec.has("nodeName") {
		ways = append(ways, nodeWay(spec, "must be either unset or set to a non-empty string")...)
	}
	if selector, ok := spec.given("nodeSelector"); ok {
		ways = append(ways, "`nodeSelector`")
		nodeSelector(selector)
		if selector.size("nodeSelectorTerms") != 1 {
			selector.note(validation.Invalid(selector.at("nodeSelectorTerms"), internal("[]core.NodeSelectorTerm", selector.obj["nodeSelectorTerms"]), "must have exactly one node selector term"))
		}
	}
	for _, name := range []string{"allNodes", "perDeviceNodeSelection"} {
		ways = append(ways, trueWay(spec, name)...)
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch len(ways) {
	case 0:
		spec.note(validation.Required(spec.path, one))
	case 1:
	default:
		spec.note(validation.Invalid(spec.path, "{"+strings.Join(ways, ", ")+"}", one+", but multiple fields are set"))
	}
}

// nodeWay checks the name of a node, and returns the way if it is one.
func nodeWay(p part, empty string) []string {
	if p.text("nodeName") == "" {
		p.invalid("nodeName", empty)
		return nil
	}
	p.is("nodeName", subdomain)
	return []string{"`nodeName`"}
}

// trueWay checks a member that is true or absent, and returns the way if it is.
func trueWay(p part, name string) []string {
	if !p.has(name) {
		return nil
	}
	if !p.flag(name) {
		p.invalid(name, "must be either unset or set to true")
		return nil
	}
	return []string{"`" + name + "`"}
}

// deviceNodes is sliceNodes for one device.
func deviceNodes(device part, chosen bool) {
	if !chosen {
		if device.has("nodeName") || device.has("nodeSelector") || device.has("allNodes") {
			device.note(validation.Invalid(device.path, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
		}
		return
	}
	var ways []string
	if device.has("nodeName") {
		ways = append(ways, nodeWay(device, "must not be empty")...)
	}
	if selector, ok := device.given("nodeSelector"); ok {
		ways = append(ways, "`nodeSelector`")
		nodeSelector(selector)
	}
	ways = append(ways, trueWay(device, "allNodes")...)
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch len(ways) {
	case 0:
		device.note(validation.Required(device.path, one))
	case 1:
	default:
		device.note(validation.Invalid(device.path, "{"+strings.Join(ways, ", ")+"}", one))
	}
}

// devicesAllowed is how many devices a slice may have.
func devicesAllowed(spec part) int {
	for device := range object.Each(spec.obj["devices"]) {
		if len(object.List(device, "taints"))+len(object.List(device, "consumesCounters")) > 0 {
			return mostElaborateDevices
		}
	}
	return mostDevices
}

// deviceNamed is the device of that name in a slice's specification, or nil.
func deviceNamed(spec map[string]any, name string) map[string]any {
	for device := range object.Each(spec["devices"]) {
		if device["name"] == name {
			return device
		}
	}
	return nil
}

func sliceDevice(device part, old map[string]any, ownNodes bool) {
	device.is("name", validation.DNS1123Label)
	if n := device.size("attributes") + device.size("capacity"); n > mostAttributes {
		device.note(validation.Invalid(device.path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", mostAttributes)))
	}
	if n := device.size("attributes"); n > mostAttributeValues {
		device.note(validation.Invalid(device.path, n, fmt.Sprintf("the total number of attribute values must not exceed %d", mostAttributeValues)))
	}
	device.named("attributes", longestAttributeName, attributeName, deviceAttribute)
	device.named("capacity", longestAttributeName, attributeName, func(capacity part) {
		deviceCapacity(capacity, device.flag("allowMultipleAllocations"))
	})
	if old == nil || !validation.Equal(device.obj["taints"], old["taints"]) {
		device.parts("taints", mostDeviceTaints, func(taint part) { deviceTaint(taint, nil) })
	}
	device.namedParts("consumesCounters", mostConsumptions, "counterSet", func(consumption part) {
		consumption.needsToBe("counterSet", validation.DNS1123Label)
		counters(consumption)
	})
	deviceNodes(device, ownNodes)
	bindingConditions(device)
}

// named checks the keys and the objects of a map. Long keys are shortened in
// paths.
func (p part) named(name string, longest int, key func(string, *validation.Path) validation.List, rule func(part)) {
	for k, v := range p.entries(name) {
		m, _ := v.(map[string]any)
		p.add(key(k, p.at(name)))
		rule(part{m, p.at(name).Key(shortened(k, longest)), p.errs})
	}
}

// shortened cuts out the middle of a long text.
func shortened(s string, longest int) string {
	const ellipsis = "..."
	if len(s) <= longest {
		return s
	}
	rest := longest - len(ellipsis)
	return s[:(rest+1)/2] + ellipsis + s[len(s)-rest/2:]
}

// counters checks the counters that are shared or consumed.
func counters(p part) {
	switch n := p.size("counters"); {
	case n == 0:
		p.missing("counters", "")
	case n > mostCounters:
		p.note(validation.TooMany(p.at("counters"), n, mostCounters))
	default:
		label := func(name string, path *validation.Path) validation.List {
			return validation.Each(path, name, validation.DNS1123Label(name))
		}
		p.named("counters", validation.DNS1123LabelMaxLength, label, func(part) {})
	}
}

// deviceAttribute checks that an attribute has one value.
func deviceAttribute(attribute part) {
	if len(attribute.text("string")) > longestAttribute {
		attribute.note(validation.TooLong(attribute.at("string"), longestAttribute))
	}
	if attribute.has("version") {
		if _, err := parseSemver(attribute.text("version")); err != nil {
			attribute.invalid("version", "must be a string compatible with semver.org spec 2.0.0")
		}
		if len(attribute.text("version")) > longestAttribute {
			attribute.note(validation.TooLong(attribute.at("version"), longestAttribute))
		}
	}
	const one = "exactly one value must be specified"
	switch len(attribute.obj) {
	case 0:
		attribute.note(validation.Invalid(attribute.path, "", one))
	case 1:
	default:
		attribute.note(validation.Invalid(attribute.path, internal("resource.DeviceAttribute", attribute.obj), one))
	}
}

// deviceCapacity checks how much of a capacity may be asked for; all of it, if
// the device is not shared.
func deviceCapacity(capacity part, shared bool) {
	policy, ok := capacity.given("requestPolicy")
	switch {
	case !ok:
	case !shared:
		capacity.forbid("requestPolicy", "allowMultipleAllocations must be true")
	case policy.size("validValues") > 0 && policy.has("validRange"):
		policy.note(validation.Forbidden(policy.path, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`))
	case policy.size("validValues") > 0:
		if !policy.has("default") {
			policy.missing("default", "required when validValues is defined")
			return
		}
		capacityOptions(policy, capacity.text("value"))
	case policy.has("validRange"):
		if !policy.has("default") {
			policy.missing("default", "required when validRange is defined")
			return
		}
		capacityRange(policy.within("validRange"), policy.text("default"), capacity.text("value"))
	}
}

// capacityOptions checks the amounts that may be asked for: ascending, none
// beyond the capacity, the default among them.
func capacityOptions(policy part, whole string) {
	path, options := policy.at("validValues"), policy.texts("validValues")
	for i := 1; i < len(options); i++ {
		if compare(options[i-1], options[i]) > 0 {
			policy.note(validation.Invalid(path.Index(i), options[i], "values must be sorted in ascending order"))
		}
	}
	known := false
	if policy.fits("validValues", mostCapacityOptions) {
		seen := map[string]bool{}
		var twice validation.List
		for i, option := range options {
			if compare(option, whole) > 0 {
				policy.note(validation.Invalid(path.Index(i), option, "option is larger than capacity value: "+whole))
			}
			known = known || compare(option, policy.text("default")) == 0
			units := strconv.FormatInt(units(option), 10)
			if seen[units] {
				twice = append(twice, validation.Duplicate(path.Index(i), units))
			}
			seen[units] = true
		}
		policy.add(twice)
	}
	if !known {
		policy.note(validation.Invalid(path, policy.text("default"), "default value is not valid according to the requestPolicy"))
	}
}

// capacityRange checks a range of amounts that may be asked for.
func capacityRange(limits part, usual, whole string) {
	if !limits.has("min") {
		limits.missing("min", "required when validRange is defined")
		return
	}
	least, most, step := limits.text("min"), limits.text("max"), limits.text("step")
	check := func(broken bool, name, value, detail string) {
		if broken {
			limits.note(validation.Invalid(limits.at(name), value, detail))
		}
	}
	check(compare(least, whole) > 0, "min", least, "min is larger than capacity value: "+whole)
	check(compare(usual, least) < 0, "min", usual, "default is less than min: "+least)
	if limits.has("max") {
		check(compare(least, most) > 0, "max", least, "min is larger than max: "+most)
		check(compare(most, whole) > 0, "max", most, "max is larger than capacity value: "+whole)
		check(compare(usual, most) > 0, "max", usual, "default is more than max: "+most)
	}
	if limits.has("step") {
		first := sum(least, step)
		detail := fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", step, least)
		check(compare(first, whole) > 0, "step", step, fmt.Sprintf("one step %s is larger than capacity value: %s", first, whole))
		check(!onStep(usual, least, step), "step", usual, detail)
		check(limits.has("max") && !onStep(most, least, step), "step", most, detail)
	}
}

// onStep reports whether whole steps lead from one amount to another. A step of
// nothing leads nowhere.
func onStep(amount, from, step string) bool {
	n := units(step)
	return n != 0 && (units(amount)-units(from))%n == 0
}

// units is a quantity as a whole number, rounded up.
func units(q string) int64 {
	n, _ := nanos(roundToUnits(q))
	return new(big.Int).Quo(n, billion).Int64()
}

// deviceTaint checks a taint. An effect that it had is not looked at again.
func deviceTaint(taint part, old map[string]any) {
	taint.is("key", validation.QualifiedName)
	taint.ifSet("value", validation.LabelValue)
	if old == nil || !same(taint.obj, old, "effect") {
		taint.needsOneOf("effect", deviceEffects...)
	}
}

func validateTaintRule(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		spec.ifGiven("deviceSelector", func(selector part) {
			if selector.has("driver") {
				csiDriverName(selector, "driver")
			}
			if selector.has("pool") {
				poolName(selector, "pool")
			}
			if selector.has("device") {
				selector.is("device", validation.DNS1123Label)
			}
		})
		deviceTaint(spec.within("taint"), object.Map(old, "spec", "taint"))
	})
}

func validateTaintRuleStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		status.add(validation.Conditions(object.List(status.obj, "conditions"), status.at("conditions")))
		status.fits("conditions", mostTaintRuleStatuses)
	})
}

// warnResourceSlice tells of drivers that are not named as they should be.
func warnResourceSlice(obj, _ map[string]any) []string {
	driver := object.String(obj, "spec", "driver")
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}

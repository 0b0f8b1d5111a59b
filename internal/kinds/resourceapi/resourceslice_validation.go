package resourceapi

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/semver"
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
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		before := object.Map(old, "spec")
		volumes.CheckCSIDriverName(spec, "driver")
		pool := spec.Field("pool")
		checkResourcePool(pool)
		if old != nil {
			pool.Immutable(object.Map(before, "pool"), "name")
			spec.Immutable(before, "driver", "nodeName")
		}
		checkSliceNodes(spec)
		if spec.Has("sharedCounters") && spec.Has("devices") {
			spec.Add(validation.Invalid(spec.Path, "", "only one of `sharedCounters` or `devices` is allowed"))
		}
		checkKeyedItems(spec, "devices", maxDevices(spec), "name", func(device validation.View) {
			checkSliceDevice(device, deviceNamed(before, device.String("name")), spec.Bool("perDeviceNodeSelection"))
		})
		checkKeyedItems(spec, "sharedCounters", mostCounterSets, "name", func(set validation.View) {
			set.RequireFormat("name", validation.DNS1123Label)
			checkCounters(set)
		})
	})
}

func checkResourcePool(pool validation.View) {
	checkPoolName(pool, "name")
	pool.Positive("resourceSliceCount")
	if pool.Int("generation") < 0 {
		pool.Invalid("generation", "must be greater than or equal to zero")
	}
}

// checkSliceNodes checks from which nodes the devices can be reached: it is said in
// one way.
func checkSliceNodes(spec validation.View) {
	var ways []string
	if spec.Has("nodeName") {
		ways = append(ways, nodeFields(spec, "must be either unset or set to a non-empty string")...)
	}
	if selector, ok := spec.Lookup("nodeSelector"); ok {
		ways = append(ways, "`nodeSelector`")
		nodes.CheckNodeSelector(selector)
		if selector.Len("nodeSelectorTerms") != 1 {
			selector.Add(validation.Invalid(selector.At("nodeSelectorTerms"), validation.AsGoType("[]core.NodeSelectorTerm", selector.Obj["nodeSelectorTerms"]), "must have exactly one node selector term"))
		}
	}
	for _, name := range []string{"allNodes", "perDeviceNodeSelection"} {
		ways = append(ways, trueFields(spec, name)...)
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch len(ways) {
	case 0:
		spec.Add(validation.Required(spec.Path, one))
	case 1:
	default:
		spec.Add(validation.Invalid(spec.Path, "{"+strings.Join(ways, ", ")+"}", one+", but multiple fields are set"))
	}
}

// nodeFields checks the name of a node, and returns the way if it is one.
func nodeFields(p validation.View, empty string) []string {
	if p.String("nodeName") == "" {
		p.Invalid("nodeName", empty)
		return nil
	}
	p.Format("nodeName", validation.Subdomain)
	return []string{"`nodeName`"}
}

// trueFields checks a member that is true or absent, and returns the way if it is.
func trueFields(p validation.View, name string) []string {
	if !p.Has(name) {
		return nil
	}
	if !p.Bool(name) {
		p.Invalid(name, "must be either unset or set to true")
		return nil
	}
	return []string{"`" + name + "`"}
}

// checkDeviceNodes is sliceNodes for one device.
func checkDeviceNodes(device validation.View, chosen bool) {
	if !chosen {
		if device.Has("nodeName") || device.Has("nodeSelector") || device.Has("allNodes") {
			device.Add(validation.Invalid(device.Path, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
		}
		return
	}
	var ways []string
	if device.Has("nodeName") {
		ways = append(ways, nodeFields(device, "must not be empty")...)
	}
	if selector, ok := device.Lookup("nodeSelector"); ok {
		ways = append(ways, "`nodeSelector`")
		nodes.CheckNodeSelector(selector)
	}
	ways = append(ways, trueFields(device, "allNodes")...)
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch len(ways) {
	case 0:
		device.Add(validation.Required(device.Path, one))
	case 1:
	default:
		device.Add(validation.Invalid(device.Path, "{"+strings.Join(ways, ", ")+"}", one))
	}
}

// maxDevices is how many devices a slice may have.
func maxDevices(spec validation.View) int {
	for device := range object.Each(spec.Obj["devices"]) {
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

func checkSliceDevice(device validation.View, old map[string]any, ownNodes bool) {
	device.Format("name", validation.DNS1123Label)
	if n := device.Len("attributes") + device.Len("capacity"); n > mostAttributes {
		device.Add(validation.Invalid(device.Path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", mostAttributes)))
	}
	if n := device.Len("attributes"); n > mostAttributeValues {
		device.Add(validation.Invalid(device.Path, n, fmt.Sprintf("the total number of attribute values must not exceed %d", mostAttributeValues)))
	}
	checkEntries(device, "attributes", longestAttributeName, attributeName, checkDeviceAttribute)
	checkEntries(device, "capacity", longestAttributeName, attributeName, func(capacity validation.View) {
		checkDeviceCapacity(capacity, device.Bool("allowMultipleAllocations"))
	})
	if old == nil || !validation.Equal(device.Obj["taints"], old["taints"]) {
		checkItems(device, "taints", mostDeviceTaints, func(taint validation.View) { checkDeviceTaint(taint, nil) })
	}
	checkKeyedItems(device, "consumesCounters", mostConsumptions, "counterSet", func(consumption validation.View) {
		consumption.RequireFormat("counterSet", validation.DNS1123Label)
		checkCounters(consumption)
	})
	checkDeviceNodes(device, ownNodes)
	checkBindingConditions(device)
}

// checkCounters checks the counters that are shared or consumed.
func checkCounters(p validation.View) {
	switch n := p.Len("counters"); {
	case n == 0:
		p.Required("counters", "")
	case n > mostCounters:
		p.Add(validation.TooMany(p.At("counters"), n, mostCounters))
	default:
		label := func(name string, path *validation.Path) validation.List {
			return validation.Each(path, name, validation.DNS1123Label(name))
		}
		checkEntries(p, "counters", validation.DNS1123LabelMaxLength, label, func(validation.View) {})
	}
}

// checkDeviceAttribute checks that an attribute has one value.
func checkDeviceAttribute(attribute validation.View) {
	if len(attribute.String("string")) > longestAttribute {
		attribute.Add(validation.TooLong(attribute.At("string"), longestAttribute))
	}
	if attribute.Has("version") {
		if _, err := semver.Parse(attribute.String("version")); err != nil {
			attribute.Invalid("version", "must be a string compatible with semver.org spec 2.0.0")
		}
		if len(attribute.String("version")) > longestAttribute {
			attribute.Add(validation.TooLong(attribute.At("version"), longestAttribute))
		}
	}
	const one = "exactly one value must be specified"
	switch len(attribute.Obj) {
	case 0:
		attribute.Add(validation.Invalid(attribute.Path, "", one))
	case 1:
	default:
		attribute.Add(validation.Invalid(attribute.Path, validation.AsGoType("resource.DeviceAttribute", attribute.Obj), one))
	}
}

// checkDeviceCapacity checks how much of a capacity may be asked for; all of it, if
// the device is not shared.
func checkDeviceCapacity(capacity validation.View, shared bool) {
	policy, ok := capacity.Lookup("requestPolicy")
	switch {
	case !ok:
	case !shared:
		capacity.Forbidden("requestPolicy", "allowMultipleAllocations must be true")
	case policy.Len("validValues") > 0 && policy.Has("validRange"):
		policy.Add(validation.Forbidden(policy.Path, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`))
	case policy.Len("validValues") > 0:
		if !policy.Has("default") {
			policy.Required("default", "required when validValues is defined")
			return
		}
		checkCapacityOptions(policy, capacity.String("value"))
	case policy.Has("validRange"):
		if !policy.Has("default") {
			policy.Required("default", "required when validRange is defined")
			return
		}
		checkCapacityRange(policy.Field("validRange"), policy.String("default"), capacity.String("value"))
	}
}

// checkCapacityOptions checks the amounts that may be asked for: ascending, none
// beyond the capacity, the default among them.
func checkCapacityOptions(policy validation.View, whole string) {
	path, options := policy.At("validValues"), policy.Strings("validValues")
	for i := 1; i < len(options); i++ {
		if quantity.Compare(options[i-1], options[i]) > 0 {
			policy.Add(validation.Invalid(path.Index(i), options[i], "values must be sorted in ascending order"))
		}
	}
	known := false
	if checkSize(policy, "validValues", mostCapacityOptions) {
		seen := map[string]bool{}
		var twice validation.List
		for i, option := range options {
			if quantity.Compare(option, whole) > 0 {
				policy.Add(validation.Invalid(path.Index(i), option, "option is larger than capacity value: "+whole))
			}
			known = known || quantity.Compare(option, policy.String("default")) == 0
			units := strconv.FormatInt(units(option), 10)
			if seen[units] {
				twice = append(twice, validation.Duplicate(path.Index(i), units))
			}
			seen[units] = true
		}
		policy.AddList(twice)
	}
	if !known {
		policy.Add(validation.Invalid(path, policy.String("default"), "default value is not valid according to the requestPolicy"))
	}
}

// checkCapacityRange checks a range of amounts that may be asked for.
func checkCapacityRange(limits validation.View, usual, whole string) {
	if !limits.Has("min") {
		limits.Required("min", "required when validRange is defined")
		return
	}
	least, most, step := limits.String("min"), limits.String("max"), limits.String("step")
	check := func(broken bool, name, value, detail string) {
		if broken {
			limits.Add(validation.Invalid(limits.At(name), value, detail))
		}
	}
	check(quantity.Compare(least, whole) > 0, "min", least, "min is larger than capacity value: "+whole)
	check(quantity.Compare(usual, least) < 0, "min", usual, "default is less than min: "+least)
	if limits.Has("max") {
		check(quantity.Compare(least, most) > 0, "max", least, "min is larger than max: "+most)
		check(quantity.Compare(most, whole) > 0, "max", most, "max is larger than capacity value: "+whole)
		check(quantity.Compare(usual, most) > 0, "max", usual, "default is more than max: "+most)
	}
	if limits.Has("step") {
		first := quantity.Add(least, step)
		detail := fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", step, least)
		check(quantity.Compare(first, whole) > 0, "step", step, fmt.Sprintf("one step %s is larger than capacity value: %s", first, whole))
		check(!onStep(usual, least, step), "step", usual, detail)
		check(limits.Has("max") && !onStep(most, least, step), "step", most, detail)
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
	n, _ := quantity.Nanos(quantity.RoundToUnits(q))
	return new(big.Int).Quo(n, quantity.Billion).Int64()
}

// warnResourceSlice warns of drivers that are not named as they should be.
func warnResourceSlice(obj, _ map[string]any) []string {
	driver := object.String(obj, "spec", "driver")
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}

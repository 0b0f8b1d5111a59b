package resourceapi

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/semver"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of a slice of devices.
const (
	maxDevices             = 128
	maxElaborateDevices    = 64 // with taints, counters or attributes that are lists
	maxCounterSets         = 8
	maxCounters            = 32
	maxConsumptions        = 2
	maxDeviceTaints        = 16
	maxAttributes          = 32
	maxAttributeValues     = 48
	maxCapacityOptions     = 10
	maxAttributeNameLength = 63 + 1 + maxIdentifierLength
	maxTaintRuleStatuses   = 8
)

func validateResourceSlice(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		before := old.At("spec")
		volumes.CheckCSIDriverName(spec, "driver")
		pool := spec.Field("pool")
		checkResourcePool(pool)
		if !old.IsNil() {
			pool.Immutable(before.At("pool"), "name")
			spec.Immutable(before, "driver", "nodeName")
		}
		checkSliceNodes(spec)
		if spec.Has("sharedCounters") && spec.Has("devices") {
			spec.Add(validation.Invalid(spec.Path, "", "only one of `sharedCounters` or `devices` is allowed"))
		}
		checkKeyedItems(spec, "devices", keyedList{limit: deviceLimit(spec), key: "name"}, func(device validation.View) {
			checkSliceDevice(device, findDevice(before, device.String("name")), spec.Bool("perDeviceNodeSelection"))
		})
		checkKeyedItems(spec, "sharedCounters", counterSetList, func(set validation.View) {
			set.Declarative(func(p validation.View) { p.RequireFormat("name", validation.ShortName) })
			checkCounters(set)
		})
		checkPartitionType(spec)
		checkSkippedOperations(spec)
	})
}

// checkSkippedOperations checks skipNodeOperations of a ResourceSlice, or of the result of an
// allocation. Its elements are checked after everything else.
func checkSkippedOperations(p validation.View) {
	const field, prepare, unprepare, all = "skipNodeOperations", "NodePrepareResources", "NodeUnprepareResources", "*"
	skipped := p.Strings(field)
	if slices.Contains(skipped, prepare) && !slices.Contains(skipped, unprepare) && !slices.Contains(skipped, all) {
		p.Invalid(field, "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped")
	}
	for i, operation := range skipped {
		if slices.Contains(skipped[:i], operation) {
			p.Add(validation.Duplicate(p.At(field).Index(i), operation))
		}
	}
	known := []string{all, prepare, unprepare}
	for i, operation := range skipped {
		if !slices.Contains(known, operation) {
			p.Add(validation.NotSupported(p.At(field).Index(i), operation, known))
		}
	}
}

func checkResourcePool(pool validation.View) {
	checkPoolName(pool, "name")
	pool.Positive("resourceSliceCount")
	if pool.Int("generation") < 0 {
		pool.Invalid("generation", "must be greater than or equal to zero")
	}
}

// checkSliceNodes checks that a slice selects its nodes by exactly one field.
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

// nodeFields checks nodeName, and returns the name of the field if it is not empty.
func nodeFields(p validation.View, empty string) []string {
	if p.String("nodeName") == "" {
		p.Invalid("nodeName", empty)
		return nil
	}
	p.Format("nodeName", validation.Subdomain)
	return []string{"`nodeName`"}
}

// trueFields checks that a field is true or absent, and returns its name if it is true.
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

// checkDeviceNodes is checkSliceNodes for one device. chosen reports whether the slice
// has perDeviceNodeSelection.
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

// deviceLimit returns the maximum number of devices of a slice.
func deviceLimit(spec validation.View) int {
	for device := range object.Each(spec.Obj["devices"]) {
		if len(object.List(device, "taints"))+len(object.List(device, "consumesCounters")) > 0 {
			return maxElaborateDevices
		}
		for _, attribute := range object.Map(device, "attributes") {
			members, _ := attribute.(map[string]any)
			if slices.ContainsFunc(attributeLists, func(name string) bool { return members[name] != nil }) {
				return maxElaborateDevices
			}
		}
	}
	return maxDevices
}

// findDevice returns the device with the name in the spec of a slice, or nil.
func findDevice(spec object.View, name string) object.View {
	for device := range spec.At("devices").Objects() {
		if device.String("name") == name {
			return device
		}
	}
	return object.View{}
}

func checkSliceDevice(device validation.View, old object.View, ownNodes bool) {
	device.Format("name", validation.DNS1123Label)
	if n := device.Len("attributes") + device.Len("capacity"); n > maxAttributes {
		device.Add(validation.Invalid(device.Path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxAttributes)))
	}
	if n := countAttributeValues(device); n > maxAttributeValues {
		device.Add(validation.Invalid(device.Path, n, fmt.Sprintf("the total number of attribute values must not exceed %d", maxAttributeValues)))
	}
	checkEntries(device, "attributes", maxAttributeNameLength, attributeName, checkDeviceAttribute)
	checkEntries(device, "capacity", maxAttributeNameLength, attributeName, func(capacity validation.View) {
		checkDeviceCapacity(capacity, device.Bool("allowMultipleAllocations"))
	})
	if old.IsNil() || !validation.Equal(device.Obj["taints"], old.At("taints")) {
		checkItems(device, "taints", maxDeviceTaints, func(taint validation.View) { checkDeviceTaint(taint, object.View{}) })
	}
	checkKeyedItems(device, "consumesCounters", consumptionList, func(consumption validation.View) {
		consumption.Declarative(func(p validation.View) { p.RequireFormat("counterSet", validation.ShortName) })
		checkCounters(consumption)
	})
	checkDeviceNodes(device, ownNodes)
	checkBindingConditions(device)
	for name, v := range device.Entries("nodeAllocatableResourceMappings") {
		mapping, _ := v.(map[string]any)
		device.AddList(checkResourceMapping(device.At("nodeAllocatableResourceMappings").Key(name), name, mapping, object.Map(device.Obj, "capacity")))
	}
	for name, v := range device.Entries("nodeAllocatableResources") {
		entry, _ := v.(map[string]any)
		device.AddList(checkNodeAllocatable(device.At("nodeAllocatableResources").Key(name), name, entry, object.Map(device.Obj, "capacity")))
	}
}

// countAttributeValues counts the values of attributes, those in lists one by one.
func countAttributeValues(device validation.View) (n int) {
	for _, v := range object.Map(device.Obj, "attributes") {
		attribute, _ := v.(map[string]any)
		listed := 0
		for _, name := range attributeLists {
			listed += len(object.List(attribute, name))
		}
		n += max(listed, 1)
	}
	return n
}

// checkCounters checks shared or consumed counters.
func checkCounters(p validation.View) {
	switch n := p.Len("counters"); {
	case n == 0:
		p.RequireDeclared("counters")
	case n > maxCounters:
		p.Add(validation.TooMany(p.At("counters"), n, maxCounters))
	default:
		label := func(name string, path *validation.Path) validation.List {
			return validation.Each(path, name, validation.DNS1123Label(name)).Declarative()
		}
		checkEntries(p, "counters", validation.DNS1123LabelMaxLength, label, func(validation.View) {})
	}
}

// attributeMembers are the fields of an attribute, of which one must be set.
var attributeMembers = []string{"int", "bool", "string", "version", "ints", "bools", "strings", "versions"}

// attributeLists are the fields of an attribute that have several values.
var attributeLists = []string{"bools", "ints", "strings", "versions"}

// checkDeviceAttribute checks that an attribute has one value, or one list of them.
func checkDeviceAttribute(attribute validation.View) {
	checkString := func(text string, path *validation.Path) {
		if len(text) > maxAttributeLength {
			attribute.Add(validation.TooLong(path, maxAttributeLength))
		}
	}
	checkVersion := func(text string, path *validation.Path) {
		if _, err := semver.Parse(text); err != nil {
			attribute.Add(validation.Invalid(path, text, "must be a string compatible with semver.org spec 2.0.0"))
		}
		checkString(text, path)
	}
	checkString(attribute.String("string"), attribute.At("string"))
	if attribute.Has("version") {
		checkVersion(attribute.String("version"), attribute.At("version"))
	}
	for _, name := range attributeLists {
		list, ok := attribute.Obj[name].([]any)
		if ok && len(list) == 0 {
			attribute.Invalid(name, "must not be empty if specified")
		}
		for i, v := range list {
			text, _ := v.(string)
			switch name {
			case "strings":
				attribute.Declarative(func(validation.View) { checkString(text, attribute.At(name).Index(i)) })
			case "versions":
				checkVersion(text, attribute.At(name).Index(i))
			}
		}
	}
	const one = "exactly one value must be specified"
	members := 0
	for name, value := range attribute.Obj {
		if list, ok := value.([]any); ok && len(list) == 0 && slices.Contains(attributeLists, name) {
			continue
		}
		members++
	}
	switch members {
	case 0:
		attribute.Add(validation.Invalid(attribute.Path, "", "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`").Before(behavior.DeclarativeDevices, validation.Instead(validation.Required(attribute.Path, one))).Before(behavior.DeclarativeErrors, validation.Detail(one)).Declarative())
	case 1:
	default:
		var set []string
		for _, name := range attributeMembers {
			if attribute.Has(name) {
				set = append(set, name)
			}
		}
		attribute.Add(validation.Invalid(attribute.Path, "{"+strings.Join(set, ", ")+"}", "must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`").
			Before(behavior.DeclarativeErrors, validation.Instead(validation.Invalid(attribute.Path, validation.AsGoType("resource.DeviceAttribute", attribute.Obj), one))).Declarative())
	}
}

// checkResourceMapping checks how a device counts as a resource of its Node.
func checkResourceMapping(path *validation.Path, name string, mapping, capacity map[string]any) (errs validation.List) {
	if !resources.IsNative(name) {
		errs = append(errs, validation.Invalid(path, name, "must be a node allocatable resource name"))
	}
	multiplier, multiplied := mapping["allocationMultiplier"].(string)
	key, keyed := mapping["capacityKey"].(string)
	if !multiplied && !keyed {
		return append(errs, validation.Invalid(path, "", "at least one of allocationMultiplier or capacityKey must be set"))
	}
	if multiplied && quantity.Compare(multiplier, "0") <= 0 {
		errs = append(errs, validation.Invalid(path.Child("allocationMultiplier"), multiplier, "must be positive"))
	}
	switch {
	case !keyed:
	case key == "":
		errs = append(errs, validation.Invalid(path.Child("capacityKey"), "", "capacityKey must not be an empty string"))
	case capacity[key] == nil:
		errs = append(errs, validation.NotFound(path.Child("capacityKey"), key))
	}
	return errs
}

// checkDeviceCapacity checks the request policy of a capacity. shared reports whether
// the device allows multiple allocations; others must not have a policy.
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

// checkCapacityOptions checks validValues: in ascending order, not greater than the
// capacity, and including the default.
func checkCapacityOptions(policy validation.View, whole string) {
	path, options := policy.At("validValues"), policy.Strings("validValues")
	for i := 1; i < len(options); i++ {
		if quantity.Compare(options[i-1], options[i]) > 0 {
			policy.Add(validation.Invalid(path.Index(i), options[i], "values must be sorted in ascending order"))
		}
	}
	known := false
	if checkSize(policy, "validValues", maxCapacityOptions) {
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

// fractionalRanges is the feature gate of ranges with bounds that are no whole numbers.
const fractionalRanges = "DRAFractionalCapacityRange"

// checkCapacityRange checks validRange against the default and the capacity.
func checkCapacityRange(limits validation.View, defaultValue, capacity string) {
	if !limits.Has("min") {
		limits.Required("min", "required when validRange is defined")
		return
	}
	r := capacityRange{limits, defaultValue, limits.String("min"), limits.String("max"), limits.String("step"), capacity}
	check := func(broken bool, name, value, detail string) {
		if broken {
			limits.Add(validation.Invalid(limits.At(name), value, detail))
		}
	}
	checkDefault := func(broken bool, bound, detail string) {
		if broken {
			limits.Add(validation.Invalid(limits.At("default"), defaultValue, detail).
				Before(behavior.CapacityRanges, validation.Field(limits.At(bound).String())))
		}
	}
	check(quantity.Compare(r.min, capacity) > 0, "min", r.min, "min is larger than capacity value: "+capacity)
	checkDefault(quantity.Compare(defaultValue, r.min) < 0, "min", "default is less than min: "+r.min)
	if r.max != "" {
		check(quantity.Compare(r.min, r.max) > 0, "max", r.min, "min is larger than max: "+r.max)
		check(quantity.Compare(r.max, capacity) > 0, "max", r.max, "max is larger than capacity value: "+capacity)
		checkDefault(quantity.Compare(defaultValue, r.max) > 0, "max", "default is more than max: "+r.max)
	}
	if !r.hasFractions() {
		limits.AddList(r.wholeSteps())
		return
	}
	limits.AddList(r.wholeSteps().WithoutGate(fractionalRanges))
	limits.AddList(r.fractionalSteps().WithGate(fractionalRanges))
}

// A capacityRange is a validRange with what it is checked against. An absent max or step is "".
type capacityRange struct {
	limits                  validation.View
	initial, min, max, step string
	capacity                string
}

// bounds returns the quantities by the names of their fields in errors.
func (r *capacityRange) bounds() (all []struct{ name, value string }) {
	for _, b := range []struct{ name, value string }{{"default", r.initial}, {"min", r.min}, {"max", r.max}, {"step", r.step}} {
		if b.value != "" {
			all = append(all, b)
		}
	}
	return all
}

func (r *capacityRange) hasFractions() bool {
	return slices.ContainsFunc(r.bounds(), func(b struct{ name, value string }) bool { return !quantity.IsInteger(b.value) })
}

// wholeSteps checks the step with all quantities rounded up to whole numbers.
func (r *capacityRange) wholeSteps() validation.List {
	if r.step == "" {
		return nil
	}
	if quantity.Compare(r.step, "0") <= 0 {
		return append(r.notPositive().Since(behavior.CapacityRanges), append(r.longStep(), r.offSteps(units)...).Until(behavior.CapacityRanges)...)
	}
	var unsafe validation.List
	for _, b := range r.bounds() {
		switch n := wholeUnits(b.value); {
		case n.Sign() < 0:
			unsafe = append(unsafe, validation.Invalid(r.limits.At(b.name), b.value, "must be greater than or equal to 0"))
		case !n.IsInt64():
			unsafe = append(unsafe, validation.Invalid(r.limits.At(b.name), b.value, fmt.Sprintf("must not be larger than %d", math.MaxInt64)))
		}
	}
	if len(unsafe) > 0 {
		return append(r.longStep(), append(unsafe.Since(behavior.CapacityRanges), r.offSteps(units).Until(behavior.CapacityRanges)...)...)
	}
	return append(r.longStep(), r.offSteps(units)...)
}

// fractionalSteps checks the step with all quantities in thousandths.
func (r *capacityRange) fractionalSteps() (errs validation.List) {
	for _, b := range r.bounds() {
		if _, ok := thousandths(b.value); !ok {
			errs = append(errs, validation.Invalid(r.limits.At(b.name), b.value, "value cannot be represented as a milli value"))
		}
	}
	switch {
	case len(errs) > 0 || r.step == "":
		return errs
	case quantity.Compare(r.step, "0") <= 0:
		return r.notPositive()
	}
	return append(r.longStep(), r.offSteps(func(q string) int64 { n, _ := thousandths(q); return n })...)
}

func (r *capacityRange) notPositive() validation.List {
	return validation.List{validation.Invalid(r.limits.At("step"), r.step, "must be greater than zero")}
}

// longStep returns an error if not even one step fits.
func (r *capacityRange) longStep() validation.List {
	first := quantity.Add(r.min, r.step)
	if quantity.Compare(first, r.capacity) <= 0 {
		return nil
	}
	return validation.List{validation.Invalid(r.limits.At("step"), r.step, fmt.Sprintf("one step %s is larger than capacity value: %s", first, r.capacity))}
}

// offSteps returns errors for the default and the maximum if they are not a number of steps from the
// minimum. number returns a quantity as a number.
func (r *capacityRange) offSteps(number func(quantity string) int64) (errs validation.List) {
	step := number(r.step)
	for _, value := range []string{r.initial, r.max} {
		if value != "" && (step == 0 || (number(value)-number(r.min))%step != 0) {
			errs = append(errs, validation.Invalid(r.limits.At("step"), value, fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.step, r.min)))
		}
	}
	return errs
}

// units returns a quantity as a whole number, rounded up.
func units(q string) int64 { return wholeUnits(q).Int64() }

func wholeUnits(q string) *big.Int { return quantity.Count(q, 1e9) }

// thousandths returns a quantity in thousandths, and whether it is a number of them.
func thousandths(q string) (int64, bool) {
	n, rest := new(big.Int).QuoRem(quantity.Nanos(q), big.NewInt(1e6), new(big.Int))
	return n.Int64(), rest.Sign() == 0 && n.IsInt64()
}

// warnResourceSlice returns a warning if the name of the driver is not in lower case.
func warnResourceSlice(obj map[string]any, _ object.View) []string {
	driver := object.String(obj, "spec", "driver")
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}

package resourceapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareResourceClaimStatus drops the statuses of devices that the update deallocates.
func prepareResourceClaimStatus(obj map[string]any, old object.View) {
	kind.StatusMetadataNone.Prepare(obj, old)
	status := object.Map(obj, "status")
	if status["devices"] == nil {
		return
	}
	now, was := allocatedDevices(object.ViewOf(status)), allocatedDevices(old.At("status"))
	kept := slices.DeleteFunc(slices.Clone(object.List(status, "devices")), func(v any) bool {
		device, _ := v.(map[string]any)
		id := deviceIDOf(object.ViewOf(device))
		return was[id] && !now[id]
	})
	if len(kept) == 0 {
		delete(status, "devices")
	} else {
		status["devices"] = kept
	}
}

// A deviceID identifies a device or a share of a device.
type deviceID struct{ Driver, Pool, Device, ShareID string }

// An opaqueDeviceID is what v1.34 prints of a deviceID.
type opaqueDeviceID struct{ Driver, Pool, Device, ShareID struct{} }

func deviceIDOf(device object.View) deviceID {
	return deviceID{device.String("driver"), device.String("pool"), device.String("device"), device.String("shareID")}
}

func allocatedDevices(status object.View) map[deviceID]bool {
	out := map[deviceID]bool{}
	for result := range status.At("allocation", "devices", "results").Objects() {
		out[deviceIDOf(result)] = true
	}
	return out
}

// validateResourceClaimStatus checks the allocation, the consumers and the devices. An
// allocation cannot change until it is removed.
func validateResourceClaimStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		before := old.At("status")
		checkKeyedItems(status, "reservedFor", consumerList, func(consumer validation.View) {
			consumer.RequireEach("resource", "name", "uid")
		})
		checkDeviceStatuses(status)
		allocation, allocated := status.Lookup("allocation")
		if consumers := object.List(status.Obj, "reservedFor"); len(consumers) > 0 {
			switch {
			case !allocated:
				status.Forbidden("reservedFor", "may not be specified when `allocated` is not set")
			case object.Value(obj, "metadata", "deletionTimestamp") != nil && hasNewItem(consumers, before.At("reservedFor")):
				status.Forbidden("reservedFor", "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
			}
		}
		switch {
		case !allocated:
		case !before.IsNil("allocation"):
			checkUnmodified(allocation, before.At("allocation"), "resource.AllocationResult", "field cannot be modified once set")
		default:
			checkDeviceAllocation(allocation, deviceRequestNames(object.Map(obj, "spec", "devices")))
		}
	})
}

// hasNewItem reports whether list has an item that before does not have.
func hasNewItem(list []any, before object.View) bool {
	was := slices.Collect(before.Objects())
	return slices.ContainsFunc(list, func(v any) bool {
		return !slices.ContainsFunc(was, func(w object.View) bool { return validation.Equal(v, w) })
	})
}

// checkDeviceStatuses checks the statuses of devices that drivers report.
func checkDeviceStatuses(status validation.View) {
	allocated := allocatedDevices(status.Object())
	for _, device := range status.Each("devices") {
		checkDeviceAddress(device)
		if id := deviceIDOf(device.Object()); !allocated[id] {
			device.Add(validation.Invalid(device.Path, id, "must be an allocated device in the claim").Before(behavior.GoValuesAsJSON, validation.Value(id)).Before(behavior.DeclarativeDevices, validation.Value(opaqueDeviceID{})))
		}
		checkSize(device, "conditions", maxDeviceConditions)
		device.AddList(validation.Conditions(object.List(device.Obj, "conditions"), device.At("conditions")))
		if device.Has("data") {
			checkRawObject(device, "data")
		}
		device.IfPresent("networkData", checkDeviceNetwork)
	}
	seen := map[deviceID]bool{}
	for _, device := range status.Each("devices") {
		id := deviceIDOf(device.Object())
		if seen[id] {
			at := device.At("deviceID")
			status.Add(validation.Duplicate(device.Path, quotedItem("ResourceClaim", device.Obj, "status", "devices")).
				Before(behavior.GoValuesAsJSON, validation.Instead(validation.Duplicate(at, id))).Before(behavior.DeclarativeDevices, validation.Instead(validation.Duplicate(at, opaqueDeviceID{}))).Before(behavior.DeclarativeErrors, validation.Instead(validation.Duplicate(device.Path, id))).Declarative())
		}
		seen[id] = true
	}
}

// checkDeviceAddress checks the driver, the pool, the name and the share of a device.
func checkDeviceAddress(device validation.View) {
	volumes.CheckCSIDriverName(device, "driver")
	checkPoolName(device, "pool")
	device.Format("device", validation.DNS1123Label)
	if device.Has("shareID") {
		checkShareID(device)
	}
}

func checkShareID(device validation.View) {
	id := device.String("shareID")
	for _, rule := range validation.UUID(id) {
		before := "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
		if wrong := uuidError(id); wrong != "" {
			before = "error validating uid: " + wrong
		}
		device.Add(validation.Invalid(device.At("shareID"), id, rule).Before(behavior.DeclarativeErrors, validation.Detail(before)).Declarative())
	}
}

// uuidError returns the error text for an invalid UUID, "" if it is valid. The forms
// with dashes, without dashes, in braces and as a URN are valid.
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

func checkDeviceNetwork(network validation.View) {
	if len(network.String("interfaceName")) > maxInterfaceLength {
		network.Add(validation.TooLong(network.At("interfaceName"), maxInterfaceLength).Declarative())
	}
	if len(network.String("hardwareAddress")) > maxHardwareLength {
		network.Add(validation.TooLong(network.At("hardwareAddress"), maxHardwareLength).Declarative())
	}
	checkUniqueStrings(network, "ips", maxDeviceIPs, validation.InterfaceAddress)
}

// checkDeviceAllocation checks a new allocation.
func checkDeviceAllocation(allocation validation.View, requests deviceRequests) {
	devices := allocation.Field("devices")
	checkItems(devices, "results", maxDeviceRequests, func(result validation.View) {
		result.AddList(requests.check(result.String("request"), result.At("request")))
		volumes.CheckDeclaredDriverName(result, "driver")
		checkAllocatedPool(result)
		result.Format("device", validation.DNS1123Label)
		checkBindingConditions(result)
		if result.Has("shareID") {
			checkShareID(result)
		}
		checkSkippedOperations(result)
		for _, toleration := range result.Each("tolerations") {
			result.AddList(validation.Collect(toleration.Obj, toleration.Path, checkDeclaredToleration).Since(behavior.DeclarativeErrors).Declarative())
		}
	})
	checkItems(devices, "config", 2*maxDeviceConfigs, func(config validation.View) {
		config.Declarative(func(p validation.View) { p.RequireOneOf("source", "FromClaim", "FromClass") })
		checkUniqueStrings(config, "requests", maxDeviceRequests, requests.check)
		checkOpaqueConfig(config)
	})
	allocation.IfPresent("nodeSelector", nodes.CheckNodeSelector)
}

// inBytes replaces the words about length in the error of a subdomain by those of declarative validation.
var inBytes = strings.NewReplacer("253 characters", "253 bytes")

// checkAllocatedPool is checkPoolName for the result of an allocation, whose errors name the segment.
func checkAllocatedPool(result validation.View) {
	path := result.At("pool")
	result.Declarative(func(p validation.View) {
		checkSegments(p, "pool", func(i int, segment, detail string) *validation.Error {
			e := validation.Invalid(path, segment, fmt.Sprintf("segment %d: %s", i, inBytes.Replace(detail)))
			if segment == "" {
				e = validation.Invalid(path, p.String("pool"), fmt.Sprintf("segment %d: must not be empty", i))
			}
			return e.Before(behavior.DeclarativeErrors, validation.Instead(validation.Invalid(path, segment, detail)))
		})
	})
}

// checkBindingConditions checks bindingConditions and bindingFailureConditions. Both
// or neither must be set.
func checkBindingConditions(p validation.View) {
	const wanted, unwanted = "bindingConditions", "bindingFailureConditions"
	for _, name := range []string{wanted, unwanted} {
		p.Declarative(func(p validation.View) { checkSize(p, name, maxBindingConditions) })
		if p.Len(name) <= maxBindingConditions {
			p.EachFormat(name, validation.QualifiedName)
		}
	}
	conditions, failures := p.Strings(wanted), p.Strings(unwanted)
	for i, c := range conditions {
		if slices.Contains(conditions[:i], c) {
			p.Add(validation.Duplicate(p.At(wanted).Index(i), c))
		}
	}
	for i, c := range failures {
		if slices.Contains(failures[:i], c) {
			p.Add(validation.Duplicate(p.At(unwanted).Index(i), c))
		}
		if slices.Contains(conditions, c) {
			p.Add(validation.Invalid(p.At(unwanted).Index(i), c, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	if len(conditions) == 0 && len(failures) > 0 {
		p.Invalid(wanted, "bindingConditions are required to use bindingFailureConditions")
	}
	if len(failures) == 0 && len(conditions) > 0 {
		p.Invalid(unwanted, "bindingFailureConditions are required to use bindingConditions")
	}
}

package resourceapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareResourceClaimStatus drops what is told of devices that the claim gives
// back.
func prepareResourceClaimStatus(obj, old map[string]any) {
	kind.StatusMetadataNone.Prepare(obj, old)
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
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		before := object.Map(old, "status")
		checkKeyedItems(status, "reservedFor", mostDeviceConsumers, "uid", func(consumer validation.View) {
			consumer.RequireEach("resource", "name", "uid")
		})
		checkDeviceStatuses(status)
		allocation, allocated := status.Lookup("allocation")
		if consumers := object.List(status.Obj, "reservedFor"); len(consumers) > 0 {
			switch {
			case !allocated:
				status.Forbidden("reservedFor", "may not be specified when `allocated` is not set")
			case object.Value(obj, "metadata", "deletionTimestamp") != nil && joined(consumers, object.List(before, "reservedFor")):
				status.Forbidden("reservedFor", "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
			}
		}
		switch {
		case !allocated:
		case before["allocation"] != nil:
			checkFixed(allocation, object.Map(before, "allocation"), "resource.AllocationResult")
		default:
			checkDeviceAllocation(allocation, deviceRequestNames(object.Map(obj, "spec", "devices")))
		}
	})
}

// joined reports whether a list has something that the one before had not.
func joined(list, before []any) bool {
	return slices.ContainsFunc(list, func(v any) bool {
		return !slices.ContainsFunc(before, func(w any) bool { return validation.Equal(v, w) })
	})
}

// checkDeviceStatuses checks the statuses of devices that drivers report.
func checkDeviceStatuses(status validation.View) {
	allocated := allocatedDevices(status.Obj)
	for _, device := range status.Each("devices") {
		checkDeviceAddress(device)
		if id := deviceIDOf(device.Obj); !allocated[id] {
			device.Add(validation.Invalid(device.Path, id, "must be an allocated device in the claim"))
		}
		checkSize(device, "conditions", mostDeviceConditions)
		device.AddList(validation.Conditions(object.List(device.Obj, "conditions"), device.At("conditions")))
		if device.Has("data") {
			checkRawObject(device, "data")
		}
		device.IfPresent("networkData", checkDeviceNetwork)
	}
	seen := map[deviceID]bool{}
	for _, device := range status.Each("devices") {
		id := deviceIDOf(device.Obj)
		if seen[id] {
			status.Add(validation.Duplicate(device.Path, id))
		}
		seen[id] = true
	}
}

// checkDeviceAddress checks where a device is found.
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
	if wrong := uuidError(id); wrong != "" {
		device.Invalid("shareID", "error validating uid: "+wrong)
	} else if len(validation.UUID(id)) > 0 {
		device.Invalid("shareID", "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
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

func checkDeviceNetwork(network validation.View) {
	if len(network.String("interfaceName")) > longestInterface {
		network.Add(validation.TooLong(network.At("interfaceName"), longestInterface))
	}
	if len(network.String("hardwareAddress")) > longestHardware {
		network.Add(validation.TooLong(network.At("hardwareAddress"), longestHardware))
	}
	checkUniqueStrings(network, "ips", mostDeviceIPs, validation.InterfaceAddress)
}

// checkDeviceAllocation checks what a claim gets.
func checkDeviceAllocation(allocation validation.View, requests deviceRequests) {
	devices := allocation.Field("devices")
	checkItems(devices, "results", mostDeviceRequests, func(result validation.View) {
		result.AddList(requests.check(result.String("request"), result.At("request")))
		volumes.CheckCSIDriverName(result, "driver")
		checkPoolName(result, "pool")
		result.Format("device", validation.DNS1123Label)
		checkBindingConditions(result)
		if result.Has("shareID") {
			checkShareID(result)
		}
	})
	checkItems(devices, "config", 2*mostDeviceConfigs, func(config validation.View) {
		config.RequireOneOf("source", "FromClaim", "FromClass")
		checkUniqueStrings(config, "requests", mostDeviceRequests, requests.check)
		checkOpaqueConfig(config)
	})
	allocation.IfPresent("nodeSelector", nodes.CheckNodeSelector)
}

// checkBindingConditions checks the conditions that a device has to meet, and those
// that it must not, before a pod is bound. There are both or neither.
func checkBindingConditions(p validation.View) {
	const wanted, unwanted = "bindingConditions", "bindingFailureConditions"
	for _, name := range []string{wanted, unwanted} {
		if checkSize(p, name, mostBindingConditions) {
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

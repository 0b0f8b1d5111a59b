package table

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// devicePrinters print the kinds of dynamic resource allocation.
var devicePrinters = map[string]printer{
	"resource.k8s.io/DeviceClass":           printNameAge,
	"resource.k8s.io/ResourceClaimTemplate": printNameAge,
	"resource.k8s.io/ResourceClaim":         func(r row) []any { return []any{r.name(), claimState(r), r.age()} },
	"resource.k8s.io/ResourceSlice": func(r row) []any {
		return []any{r.name(), r.str("spec", "nodeName"), r.str("spec", "driver"), r.str("spec", "pool", "name"), r.age()}
	},
	"resource.k8s.io/DeviceTaintRule": func(r row) []any {
		added := ""
		if r.has("spec", "taint", "timeAdded") {
			added = r.since("spec", "taint", "timeAdded")
		}
		return []any{
			r.name(), r.str("spec", "taint", "key"), r.str("spec", "taint", "value"), r.str("spec", "taint", "effect"), added, r.age(),
		}
	},
	"resource.k8s.io/ResourcePoolStatusRequest": printPoolStatus,
}

func claimState(r row) string {
	var states []string
	if r.deleted() {
		states = append(states, "deleted")
	}
	switch {
	case r.has("status", "allocation"):
		states = append(states, "allocated")
		if r.size("status", "reservedFor") > 0 {
			states = append(states, "reserved")
		}
	case !r.deleted():
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

// printPoolStatus prints the totals of the requested pools. They are "-" while
// the request is pending and if it failed.
func printPoolStatus(r row) []any {
	status, completed := "Pending", none
conditions:
	for _, c := range objects(r.list("status", "conditions")) {
		if object.String(c, "status") != "True" {
			continue
		}
		switch object.String(c, "type") {
		case "Complete":
			status, completed = "Complete", since(r.now, object.String(c, "lastTransitionTime"))
			break conditions
		case "Failed":
			status = "Failed"
			break conditions
		}
	}
	pools := objects(r.list("status", "pools"))
	cells := []any{r.name(), r.str("spec", "driver")}
	for _, name := range []string{"totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices", "validationError"} {
		sum := int64(0)
		for _, p := range pools {
			if name == "validationError" && p[name] != nil {
				sum++
			}
			sum += num(p, name)
		}
		if !r.has("status") || status == "Failed" {
			cells = append(cells, "-")
		} else {
			cells = append(cells, itoa(sum))
		}
	}
	count := r.num("status", "poolCount")
	if status == "Complete" && count > int64(len(pools)) {
		status += " (" + fraction(int64(len(pools)), count) + " pools)"
	}
	return append(cells, count, status, completed)
}

package table

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

var nodePrinters = map[string]printer{
	"Node":                     printNode,
	"node.k8s.io/RuntimeClass": func(r row) []any { return []any{r.name(), r.str("handler"), r.age()} },
}

func printNode(r row) []any {
	status := "Unknown"
	if c := r.condition("Ready"); c != nil {
		status = "NotReady"
		if object.String(c, "status") == "True" {
			status = "Ready"
		}
	}
	if r.bool("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	info := func(name, fallback string) string { return r.or(fallback, "status", "nodeInfo", name) }
	kernel := info("kernelVersion", unknown)
	if arch := info("architecture", ""); arch != "" {
		kernel += " (" + arch + ")"
	}
	return []any{
		r.name(), status, or(strings.Join(nodeRoles(r), ","), none), r.age(), info("kubeletVersion", ""),
		nodeAddress(r, "InternalIP"), nodeAddress(r, "ExternalIP"),
		info("osImage", unknown), kernel, info("containerRuntimeVersion", unknown),
	}
}

// nodeRoles returns the sorted roles in the labels of a node.
func nodeRoles(r row) []string {
	roles := map[string]bool{}
	for label := range object.Map(r.obj, "metadata", "labels") {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
			roles[role] = true
		}
	}
	roles[r.str("metadata", "labels", "kubernetes.io/role")] = true
	delete(roles, "")
	return slices.Sorted(maps.Keys(roles))
}

func nodeAddress(r row, typ string) string {
	for _, a := range objects(r.list("status", "addresses")) {
		if object.String(a, "type") == typ {
			return object.String(a, "address")
		}
	}
	return none
}

package nodes

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// nodeCells returns the cells of a Node.
func nodeCells(r table.Row) []any {
	status := "Unknown"
	if c := r.Condition("Ready"); c != nil {
		status = "NotReady"
		if object.String(c, "status") == "True" {
			status = "Ready"
		}
	}
	if r.Bool("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	info := func(name, fallback string) string { return r.Or(fallback, "status", "nodeInfo", name) }
	kernel := info("kernelVersion", table.Unknown)
	if arch := info("architecture", ""); arch != "" && !r.Before(behavior.NodeArchitecture) {
		kernel += " (" + arch + ")"
	}
	return []any{
		r.Name(), status, cmp.Or(strings.Join(nodeRoles(r), ","), table.None), r.Age(), info("kubeletVersion", ""),
		nodeAddress(r, "InternalIP"), nodeAddress(r, "ExternalIP"),
		info("osImage", table.Unknown), kernel, info("containerRuntimeVersion", table.Unknown),
	}
}

// nodeRoles returns the sorted roles in the labels of a node.
func nodeRoles(r table.Row) []string {
	roles := map[string]bool{}
	for label := range object.Map(r.Obj, "metadata", "labels") {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
			roles[role] = true
		}
	}
	roles[r.String("metadata", "labels", "kubernetes.io/role")] = true
	delete(roles, "")
	return slices.Sorted(maps.Keys(roles))
}

// nodeAddress returns the first address of a type.
func nodeAddress(r table.Row, typ string) string {
	for _, a := range r.Objects("status", "addresses") {
		if object.String(a, "type") == typ {
			return object.String(a, "address")
		}
	}
	return table.None
}

package nodes

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

func defaultNode(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	first := ""
	if cidrs := object.Strings(spec, "podCIDRs"); len(cidrs) > 0 {
		first = cidrs[0]
	}
	if cidr := object.String(spec, "podCIDR"); cidr != "" && cidr != first {
		spec["podCIDRs"] = []any{cidr}
	} else if first != "" {
		object.Put(spec, "podCIDR", first)
	}
	defaultNodeStatus(obj)
}

// defaultNodeStatus makes the whole capacity allocatable if a node does not say what is.
func defaultNodeStatus(obj map[string]any) {
	status := object.EnsureMap(obj, "status")
	if status["allocatable"] == nil && status["capacity"] != nil {
		status["allocatable"] = object.Copy(status["capacity"])
	}
	quantity.RoundList(status["capacity"])
	quantity.RoundList(status["allocatable"])
}

// defaultEmptyAllocatable makes the whole capacity allocatable if a node has an allocatable
// without resources, which etcd does not keep. It reports whether it does.
func defaultEmptyAllocatable(obj map[string]any) bool {
	status := object.Map(obj, "status")
	if status["allocatable"] != (object.EmptyMap{}) || len(object.Map(status, "capacity")) == 0 {
		return false
	}
	status["allocatable"] = object.Copy(status["capacity"])
	return true
}

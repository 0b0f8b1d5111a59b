package kinds

import (
	"encoding/base64"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// prepareNamespace gives a new namespace its phase and the finalizer that holds
// it until its content is gone; that is changed through finalize alone.
func prepareNamespace(obj, old map[string]any) {
	if old != nil {
		object.Keep(obj, old, "spec")
		return
	}
	labelNamespace(obj)
	spec := child(obj, "spec")
	finalizers := object.List(spec, "finalizers")
	if !slices.Contains(finalizers, any("kubernetes")) {
		spec["finalizers"] = append(finalizers, "kubernetes")
	}
	obj["status"] = map[string]any{"phase": "Active"}
}

func defaultNamespace(obj map[string]any) {
	labelNamespace(obj)
	fill(child(obj, "status"), "phase", "Active")
}

// labelNamespace labels a namespace with its name.
func labelNamespace(obj map[string]any) {
	meta := object.Meta(obj)
	if name := object.String(meta, "name"); name != "" {
		child(meta, "labels")["kubernetes.io/metadata.name"] = name
	}
}

func terminating(namespace map[string]any) map[string]any {
	status := object.Copy(object.Map(namespace, "status"))
	if status == nil {
		status = map[string]any{}
	}
	status["phase"] = "Terminating"
	return status
}

func undeletableNamespace(name string) string {
	switch name {
	case "default", "kube-system", "kube-public":
		return "this namespace may not be deleted"
	}
	return ""
}

// defaultSecret gives a secret its type, and its data what stringData has.
func defaultSecret(obj map[string]any) {
	fill(obj, "type", "Opaque")
	text := object.Map(obj, "stringData")
	delete(obj, "stringData")
	if len(text) == 0 {
		return
	}
	data := child(obj, "data")
	for key := range text {
		data[key] = base64.StdEncoding.EncodeToString([]byte(object.String(text, key)))
	}
}

// prepareServiceAccount leaves of the references to secrets the names.
func prepareServiceAccount(obj, _ map[string]any) {
	for ref := range object.Each(obj["secrets"]) {
		for member := range ref {
			if member != "name" {
				delete(ref, member)
			}
		}
	}
}

func defaultEndpoints(obj map[string]any) {
	for subset := range object.Each(obj["subsets"]) {
		for port := range object.Each(subset["ports"]) {
			fillZero(port, "protocol", "TCP")
		}
	}
}

func defaultResourceQuota(obj map[string]any) {
	roundList(object.Value(obj, "spec", "hard"))
	roundList(object.Value(obj, "status", "hard"))
	roundList(object.Value(obj, "status", "used"))
}

// defaultLimitRange completes the limits of containers: what is not said by
// default is the maximum, what is not requested by default the default, else
// the minimum.
func defaultLimitRange(obj map[string]any) {
	for item := range object.Each(object.Value(obj, "spec", "limits")) {
		if item["type"] == "Container" {
			fillList(item, "default", object.Map(item, "max"))
			fillList(item, "defaultRequest", object.Map(item, "default"))
			fillList(item, "defaultRequest", object.Map(item, "min"))
		}
		for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
			roundList(item[list])
		}
	}
}

func defaultNode(obj map[string]any) {
	spec := child(obj, "spec")
	first := ""
	if cidrs := object.Strings(spec, "podCIDRs"); len(cidrs) > 0 {
		first = cidrs[0]
	}
	if cidr := object.String(spec, "podCIDR"); cidr != "" && cidr != first {
		spec["podCIDRs"] = []any{cidr}
	} else if first != "" {
		spec["podCIDR"] = first
	}
	status := child(obj, "status")
	if status["allocatable"] == nil && status["capacity"] != nil {
		status["allocatable"] = object.Copy(status["capacity"])
	}
	roundList(status["capacity"])
	roundList(status["allocatable"])
}

// prepareNode takes the status of a new node as it comes.
func prepareNode(obj, old map[string]any) {
	without(child(obj, "spec"), object.Map(old, "spec"), "configSource")
	if old != nil {
		object.Keep(obj, old, "status")
		return
	}
	delete(child(obj, "status"), "config")
}

func prepareNodeStatus(obj, old map[string]any) {
	statusAndMeta.prepare(obj, old)
	without(child(obj, "status"), object.Map(old, "status"), "config")
}

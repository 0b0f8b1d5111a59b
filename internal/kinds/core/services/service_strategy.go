package services

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// reachable reports whether a Service can be reached from outside the cluster.
func reachable(spec map[string]any) bool {
	return needsNodePorts(spec) || spec["type"] == "ClusterIP" && len(object.List(spec, "externalIPs")) > 0
}

func needsClusterIP(spec map[string]any) bool { return spec["type"] != "ExternalName" }

func needsNodePorts(spec map[string]any) bool {
	return spec["type"] == "NodePort" || spec["type"] == "LoadBalancer"
}

func needsHealthCheckPort(spec map[string]any) bool {
	return spec["type"] == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local"
}

// prepareService takes out of an update what the service's type does not have,
// unless the update changes it.
func prepareService(obj, old map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	if old != nil {
		dropForType(spec, object.Map(old, "spec"))
		if spec["type"] != "LoadBalancer" {
			// The status may be the old object's own.
			status := object.Copy(object.EnsureMap(obj, "status"))
			status["loadBalancer"] = map[string]any{}
			obj["status"] = status
		}
	}
	if policy := spec["internalTrafficPolicy"]; spec["type"] == "ExternalName" && (policy == "Cluster" || policy == "Local") {
		delete(spec, "internalTrafficPolicy")
	}
}

// dropForType takes out what the new type of a service has no use for.
func dropForType(spec, old map[string]any) {
	if needsClusterIP(old) && !needsClusterIP(spec) {
		if kind.SameField(spec, old, "clusterIP") && kind.SameField(spec, old, "clusterIPs") {
			delete(spec, "clusterIP")
			delete(spec, "clusterIPs")
		}
		dropSame(spec, old, "ipFamilies")
		dropSame(spec, old, "ipFamilyPolicy")
	}
	if needsNodePorts(old) && !needsNodePorts(spec) && !hasNewNodePort(spec, old) {
		for port := range object.Each(spec["ports"]) {
			delete(port, "nodePort")
		}
	}
	if needsHealthCheckPort(old) && !needsHealthCheckPort(spec) {
		dropSame(spec, old, "healthCheckNodePort")
	}
	if old["type"] == "LoadBalancer" && spec["type"] != "LoadBalancer" {
		dropSame(spec, old, "allocateLoadBalancerNodePorts")
		dropSame(spec, old, "loadBalancerClass")
	}
	if reachable(old) && !reachable(spec) {
		dropSame(spec, old, "externalTrafficPolicy")
	}
}

// dropSame takes a member from spec that an update has not changed.
func dropSame(spec, old map[string]any, name string) {
	if kind.SameField(spec, old, name) {
		delete(spec, name)
	}
}

func hasNewNodePort(spec, old map[string]any) bool {
	known := nodePorts(old)
	for n := range nodePorts(spec) {
		if !known[n] {
			return true
		}
	}
	return false
}

// nodePorts are the node ports of a service.
func nodePorts(spec map[string]any) map[int64]bool {
	out := map[int64]bool{}
	for port := range object.Each(spec["ports"]) {
		if n, _ := object.Int(port, "nodePort"); n != 0 {
			out[n] = true
		}
	}
	return out
}

// keepAssigned gives an update that leaves them out the addresses and ports
// that the service has been assigned. Ports are known by their names.
func keepAssigned(spec, old map[string]any) {
	if needsClusterIP(spec) && needsClusterIP(old) {
		kind.CopyMissing(spec, old, "clusterIP", "clusterIPs")
	}
	if assignsNodePorts(spec) && assignsNodePorts(old) {
		assigned := map[string]int64{}
		for port := range object.Each(old["ports"]) {
			assigned[object.String(port, "name")], _ = object.Int(port, "nodePort")
		}
		kept, requested := nodePorts(old), nodePorts(spec)
		for port := range object.Each(spec["ports"]) {
			n := assigned[object.String(port, "name")]
			if n != 0 && !(kept[n] && requested[n]) {
				object.SetDefault(port, "nodePort", n)
			}
		}
	}
	if needsHealthCheckPort(spec) && needsHealthCheckPort(old) {
		kind.CopyMissing(spec, old, "healthCheckNodePort")
	}
}

// assignsNodePorts is needsNodePorts for load balancers that do not go without.
func assignsNodePorts(spec map[string]any) bool {
	return needsNodePorts(spec) && (spec["type"] == "NodePort" || spec["allocateLoadBalancerNodePorts"] != false)
}

// linkClusterIPs keeps clusterIP the first of clusterIPs for clients that know
// it alone. Old is nil on a creation.
func linkClusterIPs(spec, old map[string]any) {
	ip := object.String(spec, "clusterIP")
	list := object.List(spec, "clusterIPs")
	if old == nil {
		if ip != "" && len(list) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	oldIP := object.String(old, "clusterIP")
	if ip == oldIP {
		if len(list) == 0 {
			kind.CopyMissing(spec, old, "clusterIPs")
		}
		return
	}
	switch unchanged := kind.SameField(spec, old, "clusterIPs"); {
	case !unchanged:
	case ip == "":
		delete(spec, "clusterIPs")
	default:
		spec["clusterIPs"] = []any{ip}
	}
}

var serviceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		ReturnDeletedObject:      true,
		Name:                     validation.LabelName,
		Default:                  defaultService,
		Allocate:                 allocateService,
		Prepare:                  prepareService,
		Validate:                 validateService,
		WarningsOnWrite:          warnService,
		SelectableFields:         []resource.Field{kind.SelectableField("spec.clusterIP", "spec", "clusterIP"), kind.SelectableField("spec.type", "spec", "type")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Status: kind.Status{
		Validate:        validateServiceStatus,
		WarningsOnWrite: warnServiceStatus,
	},
}

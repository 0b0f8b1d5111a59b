package services

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// externallyAccessible reports whether a Service can be reached from outside the
// cluster.
func externallyAccessible(spec object.View) bool {
	return needsNodePorts(spec) || spec.String("type") == "ClusterIP" && spec.Len("externalIPs") > 0
}

func needsClusterIP(spec object.View) bool { return spec.String("type") != "ExternalName" }

func needsNodePorts(spec object.View) bool {
	return spec.String("type") == "NodePort" || spec.String("type") == "LoadBalancer"
}

func needsHealthCheckPort(spec object.View) bool {
	return spec.String("type") == "LoadBalancer" && spec.String("externalTrafficPolicy") == "Local"
}

// prepareService drops fields that the new type of the Service does not have, unless
// the update changes them.
func prepareService(obj map[string]any, old object.View) {
	spec := object.EnsureMap(obj, "spec")
	if !old.IsNil() {
		spec = object.Own(obj, "spec")
		dropTypeDependentFields(spec, old.At("spec"))
		if spec["type"] != "LoadBalancer" {
			// The status may be shared with the old object.
			status := object.Copy(object.EnsureMap(obj, "status"))
			status["loadBalancer"] = map[string]any{}
			obj["status"] = status
		}
	}
	if policy := spec["internalTrafficPolicy"]; spec["type"] == "ExternalName" && (policy == "Cluster" || policy == "Local") {
		delete(spec, "internalTrafficPolicy")
	}
}

// dropTypeDependentFields drops the fields that the old type has, the new type does
// not have, and the update does not change.
func dropTypeDependentFields(spec map[string]any, old object.View) {
	now := object.ViewOf(spec)
	if needsClusterIP(old) && !needsClusterIP(now) {
		if kind.SameField(spec, old, "clusterIP") && kind.SameField(spec, old, "clusterIPs") {
			delete(spec, "clusterIP")
			delete(spec, "clusterIPs")
		}
		dropUnchanged(spec, old, "ipFamilies")
		dropUnchanged(spec, old, "ipFamilyPolicy")
	}
	if needsNodePorts(old) && !needsNodePorts(now) && !hasNewNodePort(now, old) {
		object.PruneItems(spec, "ports", func(field string) bool { return field == "nodePort" })
	}
	if needsHealthCheckPort(old) && !needsHealthCheckPort(now) {
		dropUnchanged(spec, old, "healthCheckNodePort")
	}
	if old.String("type") == "LoadBalancer" && spec["type"] != "LoadBalancer" {
		dropUnchanged(spec, old, "allocateLoadBalancerNodePorts")
		dropUnchanged(spec, old, "loadBalancerClass")
	}
	if externallyAccessible(old) && !externallyAccessible(now) {
		dropUnchanged(spec, old, "externalTrafficPolicy")
	}
}

// dropUnchanged deletes a field of spec that equals the one of old.
func dropUnchanged(spec map[string]any, old object.View, name string) {
	if kind.SameField(spec, old, name) {
		delete(spec, name)
	}
}

func hasNewNodePort(spec, old object.View) bool {
	known := nodePorts(old)
	for n := range nodePorts(spec) {
		if !known[n] {
			return true
		}
	}
	return false
}

// ownIncompletePorts copies the ports if one has no node port.
func ownIncompletePorts(spec map[string]any) {
	for port := range object.Each(spec["ports"]) {
		if n, _ := object.Int(port, "nodePort"); n == 0 {
			object.OwnItems(spec, "ports")
			return
		}
	}
}

// nodePorts returns the set of node ports of a Service.
func nodePorts(spec object.View) map[int64]bool {
	out := map[int64]bool{}
	for port := range spec.At("ports").Objects() {
		if n, _ := port.Int("nodePort"); n != 0 {
			out[n] = true
		}
	}
	return out
}

// keepAllocated copies the allocated cluster IPs and ports that the update omits
// from old. Ports are matched by name.
func keepAllocated(spec map[string]any, old object.View) {
	now := object.ViewOf(spec)
	if needsClusterIP(now) && needsClusterIP(old) {
		kind.CopyMissing(spec, old, "clusterIP", "clusterIPs")
	}
	if allocatesNodePorts(now) && allocatesNodePorts(old) {
		assigned := map[string]int64{}
		for port := range old.At("ports").Objects() {
			assigned[port.String("name")], _ = port.Int("nodePort")
		}
		ownIncompletePorts(spec)
		kept, requested := nodePorts(old), nodePorts(now)
		for port := range object.Each(spec["ports"]) {
			n := assigned[object.String(port, "name")]
			if n != 0 && !(kept[n] && requested[n]) {
				object.SetDefault(port, "nodePort", n)
			}
		}
	}
	if needsHealthCheckPort(now) && needsHealthCheckPort(old) {
		kind.CopyMissing(spec, old, "healthCheckNodePort")
	}
}

// allocatesNodePorts reports whether the ports of the Service get node ports. A
// LoadBalancer Service can disable them with allocateLoadBalancerNodePorts.
func allocatesNodePorts(spec object.View) bool {
	return needsNodePorts(spec) && (spec.String("type") == "NodePort" || !spec.At("allocateLoadBalancerNodePorts").EqualTo(false))
}

// normalizeClusterIPs makes clusterIP and clusterIPs[0] agree for clients that know
// only clusterIP. old is nothing on create.
func normalizeClusterIPs(spec map[string]any, old object.View) {
	ip := object.String(spec, "clusterIP")
	list := object.List(spec, "clusterIPs")
	if old.IsNil() {
		if ip != "" && len(list) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	oldIP := old.String("clusterIP")
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
		SelectableFields:         []resource.Field{kind.SelectableField("spec.clusterIP", "spec", "clusterIP"), kind.SelectableField("spec.type", "spec", "type")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Warnings: warnService,
	Status: kind.Status{
		Validate:        validateServiceStatus,
		WarningsOnWrite: warnServiceStatus,
	},
	Cells: serviceCells,
	Released: func(r *release.Release, s *resource.Strategy) {
		if !r.Has(behavior.ServiceMetadataOnce) {
			s.MetadataValidation = resource.MetadataUpdateAndCreate
		}
		if !r.Enabled("RelaxedServiceNameValidation") {
			s.Name = validation.DNS1035LabelName
		}
	},
}

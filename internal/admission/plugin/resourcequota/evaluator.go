package resourcequota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
)

// An evaluator computes what the objects of one resource use.
type evaluator struct {
	// handles reports whether a request can change the use.
	handles func(a *admission.Attributes) bool
	// computes reports whether usage can have the quantity.
	computes func(name string) bool
	// usage returns the quantities that an object uses.
	usage func(obj object.View) map[string]any
	// inScope reports whether an object is in the scope. Nil means that no object
	// is in any scope.
	inScope func(obj object.View, s scope) bool
	// missing returns the requests and limits that an object must have if the
	// quantities are limited, and does not; "" for none. It may be nil.
	missing func(obj object.View, limited []string) string
}

// evaluators are the evaluators of the resources that quotas do more than count.
var evaluators = map[status.GroupResource]evaluator{
	{Resource: "pods"}:                                     {podHandles, podComputes, podUsage, podInScope, podMissing},
	{Resource: "services"}:                                 {objectHandles, isOneOf("count/services", "services", "services.nodeports", "services.loadbalancers"), serviceUsage, nil, nil},
	{Resource: "persistentvolumeclaims"}:                   {claimHandles, claimComputes, claimUsage, claimInScope, nil},
	{Group: "resource.k8s.io", Resource: "resourceclaims"}: {objectHandles, resourceClaimComputes, resourceClaimUsage, nil, nil},
}

// shortNames are the resources that quotas also count without the prefix count/.
var shortNames = []string{"configmaps", "resourcequotas", "replicationcontrollers", "secrets"}

// evaluatorOf returns the evaluator of a resource. The default one counts
// objects.
func evaluatorOf(r status.GroupResource) evaluator {
	if e, ok := evaluators[r]; ok {
		return e
	}
	names := []string{"count/" + r.String()}
	if r.Group == "" && slices.Contains(shortNames, r.Resource) {
		names = append(names, r.Resource)
	}
	return evaluator{
		computes: isOneOf(names...),
		usage:    func(object.View) map[string]any { return oneOfEach(names...) },
	}
}

func isOneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// oneOfEach returns a list with the quantity 1 of each name.
func oneOfEach(names ...string) map[string]any {
	list := make(map[string]any, len(names))
	for _, name := range names {
		list[name] = "1"
	}
	return list
}

// objectHandles reports whether the request writes the object itself.
func objectHandles(a *admission.Attributes) bool { return a.Subresource == "" }

func podHandles(a *admission.Attributes) bool {
	switch a.Subresource {
	case "":
		return a.Operation == admission.Create || hasDeadline(object.ViewOf(a.Object)) != hasDeadline(a.Old) && a.Access.Release().Has(behavior.ChargesTerminatingScope)
	case "resize":
		return true
	}
	return false
}

func hasDeadline(pod object.View) bool {
	deadline, ok := pod.Int("spec", "activeDeadlineSeconds")
	return ok && deadline >= 0
}

// podQuantities are the quantities of pods that quotas can limit, besides huge
// pages and extended resources.
var podQuantities = []string{
	"count/pods", "pods",
	"cpu", "memory", "ephemeral-storage",
	"requests.cpu", "requests.memory", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage",
}

func podComputes(name string) bool {
	return slices.Contains(podQuantities, name) || resources.IsQuotaHugePages(name) || isQuotaExtendedResource(name)
}

// implicitPrefix is the prefix of the quota names of the extended resources that
// every DeviceClass has.
const implicitPrefix = "requests.deviceclass.resource.kubernetes.io/"

func isQuotaExtendedResource(name string) bool {
	return strings.HasPrefix(name, "requests.") && (!resources.IsNative(name) || strings.HasPrefix(name, implicitPrefix))
}

func podUsage(pod object.View) map[string]any {
	usage := oneOfEach("count/pods")
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" {
		return usage
	}
	spec := pod.At("spec")
	requests, limits, overhead := pods.TotalResources(spec, "requests"), pods.TotalResources(spec, "limits"), spec.At("overhead")
	resources.Add(requests, overhead)
	for name, q := range overhead.Fields() {
		if limit, _ := limits[name].(string); quantity.IsNonZero(limit) {
			resources.Add(limits, object.ViewOf(map[string]any{name: q.Shared()}))
		}
	}
	maps.Copy(usage, computeUsage(object.ViewOf(requests), object.ViewOf(limits)))
	return usage
}

// computeUsage returns the requests and limits of a pod or a container under the
// names that quotas have for them.
func computeUsage(requests, limits object.View) map[string]any {
	usage := oneOfEach("pods")
	for name, q := range requests.Fields() {
		q := q.String()
		switch {
		case name == "cpu", name == "memory", name == "ephemeral-storage", resources.IsHugePages(name):
			usage[name], usage["requests."+name] = q, q
		case resources.IsExtended(name), strings.HasPrefix("requests."+name, implicitPrefix):
			usage["requests."+name] = q
		}
	}
	for name, q := range limits.Fields() {
		if name == "cpu" || name == "memory" || name == "ephemeral-storage" {
			usage["limits."+name] = q.String()
		}
	}
	return usage
}

// podMissing returns the limited quantities of cpu and memory that containers do
// not set: "cpu for: a,b; memory for: a".
func podMissing(pod object.View, limited []string) string {
	spec := pod.At("spec")
	for _, field := range []string{"requests", "limits"} {
		for name := range spec.At("resources", field).Fields() {
			if name == "cpu" || name == "memory" || resources.IsHugePages(name) {
				return "" // the pod sets them as a whole
			}
		}
	}
	var missing []string
	for _, name := range limited {
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "limits.")
		if plain != "cpu" && plain != "memory" {
			continue
		}
		var containers []string
		for _, field := range []string{"containers", "initContainers"} {
			for c := range spec.At(field).Objects() {
				if !object.Has(computeUsage(c.At("resources", "requests"), c.At("resources", "limits")), name) {
					containers = append(containers, c.String("name"))
				}
			}
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			missing = append(missing, name+" for: "+strings.Join(slices.Compact(containers), ","))
		}
	}
	return strings.Join(missing, "; ")
}

func podInScope(pod object.View, s scope) bool {
	spec := pod.At("spec")
	switch s.name {
	case "Terminating":
		return hasDeadline(pod)
	case "NotTerminating":
		return !hasDeadline(pod)
	case "BestEffort":
		return isBestEffort(pod)
	case "NotBestEffort":
		return !isBestEffort(pod)
	case "PriorityClass":
		return s.selects(spec.String("priorityClassName"))
	case "CrossNamespacePodAffinity":
		return hasForeignAffinity(spec.At("affinity", "podAffinity")) || hasForeignAffinity(spec.At("affinity", "podAntiAffinity"))
	}
	return false
}

func isBestEffort(pod object.View) bool {
	if class := pod.String("status", "qosClass"); class != "" {
		return class == "BestEffort"
	}
	return pods.IsBestEffort(pod.At("spec"))
}

// hasForeignAffinity reports whether a term of an affinity or anti-affinity
// selects pods of other namespaces.
func hasForeignAffinity(affinity object.View) bool {
	isForeign := func(term object.View) bool {
		return term.Len("namespaces") > 0 || !term.IsNil("namespaceSelector")
	}
	for term := range affinity.At("requiredDuringSchedulingIgnoredDuringExecution").Objects() {
		if isForeign(term) {
			return true
		}
	}
	for weighted := range affinity.At("preferredDuringSchedulingIgnoredDuringExecution").Objects() {
		if isForeign(weighted.At("podAffinityTerm")) {
			return true
		}
	}
	return false
}

func serviceUsage(service object.View) map[string]any {
	usage := oneOfEach("count/services", "services")
	ports := service.At("spec", "ports")
	n := ports.Len()
	typ := service.String("spec", "type")
	if typ == "LoadBalancer" {
		usage["services.loadbalancers"] = "1"
		if service.At("spec", "allocateLoadBalancerNodePorts").EqualTo(false) {
			n = 0
			for port := range ports.Objects() {
				if nodePort, _ := port.Int("nodePort"); nodePort != 0 {
					n++
				}
			}
		}
	}
	if typ == "LoadBalancer" || typ == "NodePort" {
		usage["services.nodeports"] = fmt.Sprint(n)
	}
	return usage
}

// storageClassInfix separates the name of a StorageClass from the name of the
// quantity: "gold.storageclass.storage.k8s.io/requests.storage".
const storageClassInfix = ".storageclass.storage.k8s.io/"

func claimHandles(a *admission.Attributes) bool {
	return a.Subresource == "" || a.Subresource == "status"
}

func claimComputes(name string) bool {
	if _, after, ok := strings.Cut(name, storageClassInfix); ok {
		name = after
	}
	return name == "count/persistentvolumeclaims" || name == "persistentvolumeclaims" || name == "requests.storage"
}

func claimUsage(claim object.View) map[string]any {
	usage := oneOfEach("persistentvolumeclaims", "count/persistentvolumeclaims")
	class := volumes.ClaimStorageClass(claim).String()
	if class != "" {
		usage[class+storageClassInfix+"persistentvolumeclaims"] = "1"
	}
	storage := claim.String("spec", "resources", "requests", "storage")
	if storage == "" {
		return usage
	}
	if allocated := claim.String("status", "allocatedResources", "storage"); allocated != "" && quantity.Compare(allocated, storage) > 0 {
		storage = allocated
	}
	storage = quantity.RoundToUnits(storage)
	usage["requests.storage"] = storage
	if class != "" {
		usage[class+storageClassInfix+"requests.storage"] = storage
	}
	return usage
}

func claimInScope(claim object.View, s scope) bool {
	return s.name == "VolumeAttributesClass" && s.selects(
		claim.String("spec", "volumeAttributesClassName"),
		claim.String("status", "currentVolumeAttributesClassName"),
		claim.String("status", "modifyVolumeStatus", "targetVolumeAttributesClassName"))
}

const (
	resourceClaimCount = "count/resourceclaims.resource.k8s.io"
	// deviceClassSuffix follows the name of a DeviceClass in the quota name of
	// its devices.
	deviceClassSuffix = ".deviceclass.resource.k8s.io/devices"
	// maxDevices is the maximum number of devices of a ResourceClaim.
	maxDevices = "32"
)

func resourceClaimComputes(name string) bool {
	return name == resourceClaimCount || strings.HasSuffix(name, deviceClassSuffix)
}

// resourceClaimUsage returns the maximum number of devices of each class that
// can be allocated to a ResourceClaim.
func resourceClaimUsage(claim object.View) map[string]any {
	usage := oneOfEach(resourceClaimCount)
	for request := range claim.At("spec", "devices", "requests").Objects() {
		devices := map[string]any{}
		for alternative := range request.At("firstAvailable").Objects() {
			resources.Max(devices, requestedDevices(alternative))
		}
		if exactly := request.At("exactly"); !exactly.IsNil() && len(devices) == 0 {
			devices = requestedDevices(exactly)
		}
		resources.Add(usage, object.ViewOf(devices))
	}
	return usage
}

func requestedDevices(request object.View) map[string]any {
	n := "0"
	switch count, _ := request.Int("count"); request.String("allocationMode") {
	case "ExactCount":
		n = fmt.Sprint(count)
	case "All":
		n = maxDevices
	}
	return map[string]any{request.String("deviceClassName") + deviceClassSuffix: n}
}

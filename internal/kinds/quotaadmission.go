package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// ResourceQuotaKind is the kind of the quotas that a namespace's objects are
// charged to.
var ResourceQuotaKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "ResourceQuota"}

// A meter tells what the objects of one resource use up of quotas.
//
// See https://kubernetes.io/docs/concepts/policy/resource-quotas/.
type meter struct {
	// charged reports whether a write can change what is used.
	charged func(w *resource.Write) bool
	// measures reports whether a quantity that quotas can limit is of this
	// resource.
	measures func(name string) bool
	// usage is what an object uses, by name.
	usage func(obj map[string]any) map[string]any
	// inScope, if not nil, reports whether an object is in the scope of a quota
	// that a requirement describes. Without it objects are in none.
	inScope func(obj map[string]any, scope scopeRequirement) bool
	// lacks, if not nil, tells what an object has to say for one of the measured
	// quantities to be limited; "" if it says it all.
	lacks func(obj map[string]any, measured []string) string
}

// meters are those of the resources that are more than counted.
var meters = map[string]meter{
	"pods":                           {podCharged, measuresPod, podUsage, podInScope, podLacks},
	"services":                       {createdOrUpdated, oneOf("count/services", "services", "services.nodeports", "services.loadbalancers"), serviceUsage, nil, nil},
	"persistentvolumeclaims":         {claimCharged, measuresClaim, claimUsage, claimInScope, nil},
	"resourceclaims.resource.k8s.io": {createdOrUpdated, measuresDevices, deviceUsage, nil, nil},
}

// countAliases are the resources whose number quotas can name in an older way.
var countAliases = []string{"configmaps", "resourcequotas", "replicationcontrollers", "secrets"}

// meterOf is the meter of a resource, named with its group.
func meterOf(name string) meter {
	if m, ok := meters[name]; ok {
		return m
	}
	counts := []string{"count/" + name}
	if slices.Contains(countAliases, name) {
		counts = append(counts, name)
	}
	return meter{
		charged:  func(w *resource.Write) bool { return w.Old == nil && w.Subresource == "" },
		measures: oneOf(counts...),
		usage:    func(map[string]any) map[string]any { return one(counts...) },
	}
}

func oneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// one is a list of one of each.
func one(names ...string) map[string]any {
	list := make(map[string]any, len(names))
	for _, name := range names {
		list[name] = "1"
	}
	return list
}

func createdOrUpdated(w *resource.Write) bool { return w.Subresource == "" }

// IsCharged reports whether quotas are asked about a write to objects of a type.
func IsCharged(t *resource.Type, w *resource.Write) bool {
	return t.Namespaced && t.Name != "events" && meterOf(qualified(t.Stored.Group, t.Name)).charged(w)
}

// Charge returns what status.used of each of the quotas of a namespace is after
// a write of an object of type t; nil where it stays. It fails where the write
// would use more than a quota allows.
//
// A quota counts once its status says what it allows and what is used: in a
// cluster its controller writes that.
func Charge(t *resource.Type, w *resource.Write, quotas []map[string]any) ([]map[string]any, error) {
	m := meterOf(qualified(t.Stored.Group, t.Name))
	obj, old := w.Object, w.Old
	if stored := t.Storage(); stored != t {
		var err error
		if obj, old, err = in(stored, obj, old); err != nil {
			return nil, err
		}
	}
	var matching []int
	for i, quota := range quotas {
		if !m.matches(quota, obj) {
			continue
		}
		if err := m.check(quota, obj); err != nil {
			return nil, err
		}
		matching = append(matching, i)
	}
	used := make([]map[string]any, len(quotas))
	if len(matching) == 0 {
		return used, nil
	}
	usage := m.usage(obj)
	for _, i := range matching {
		quota, delta := quotas[i], usage
		if old != nil && m.matches(quota, old) {
			delta = more(usage, m.usage(old))
		}
		var err error
		if used[i], err = charge(quota, delta, w.Subresource != "status"); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// measured are the quantities of the resource that a quota limits, sorted.
func (m *meter) measured(quota map[string]any) (names []string) {
	for name := range object.Map(quota, "status", "hard") {
		if m.measures(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// matches reports whether a quota limits what an object uses.
func (m *meter) matches(quota, obj map[string]any) bool {
	if len(m.measured(quota)) == 0 {
		return false
	}
	for _, scope := range scopesOf(quota) {
		if m.inScope == nil || !m.inScope(obj, scope) {
			return false
		}
	}
	return true
}

// check refuses an object of which it cannot be told whether a quota allows it.
func (m *meter) check(quota, obj map[string]any) error {
	name, measured := object.String(quota, "metadata", "name"), m.measured(quota)
	if m.lacks != nil {
		if missing := m.lacks(obj, measured); missing != "" {
			return fmt.Errorf("failed quota: %s: must specify %s", name, missing)
		}
	}
	used := object.Map(quota, "status", "used")
	if slices.ContainsFunc(measured, func(name string) bool { return !has(used, name) }) {
		return fmt.Errorf("status unknown for quota: %s, resources: %s", name, strings.Join(measured, ","))
	}
	return nil
}

// charge adds to what is used of a quota: nil if nothing is added.
func charge(quota, delta map[string]any, enforce bool) (map[string]any, error) {
	hard, used := object.Map(quota, "status", "hard"), object.Map(quota, "status", "used")
	requested, exceeded := map[string]any{}, []string{}
	after := maps.Clone(used)
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		limit, limited := hard[name].(string)
		add, _ := delta[name].(string)
		if !limited || !nonzero(add) {
			continue
		}
		requested[name] = add
		addList(after, map[string]any{name: add})
		if total, _ := after[name].(string); compare(total, limit) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if enforce && len(exceeded) > 0 {
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			object.String(quota, "metadata", "name"), listText(requested, exceeded), listText(used, exceeded), listText(hard, exceeded))
	}
	if len(requested) == 0 {
		return nil, nil
	}
	return after, nil
}

// listText is `cpu=1,pods=2` of some of the quantities in a list.
func listText(list map[string]any, names []string) string {
	var parts []string
	for _, name := range names {
		if q, ok := list[name].(string); ok {
			parts = append(parts, name+"="+q)
		}
	}
	return strings.Join(parts, ",")
}

// more is by how much quantities exceed others.
func more(list, others map[string]any) map[string]any {
	out := make(map[string]any, len(list))
	for name, v := range list {
		q, _ := v.(string)
		if other, ok := others[name].(string); ok {
			if compare(q, other) <= 0 {
				continue
			}
			q = difference(q, other)
		}
		out[name] = q
	}
	return out
}

// A scopeRequirement is one of the conditions on the objects that a quota is
// for.
type scopeRequirement struct {
	scope, operator string
	values          []string
}

func scopesOf(quota map[string]any) (all []scopeRequirement) {
	for _, scope := range object.Strings(quota, "spec", "scopes") {
		all = append(all, scopeRequirement{scope: scope, operator: "Exists"})
	}
	for e := range object.Each(object.Value(quota, "spec", "scopeSelector", "matchExpressions")) {
		all = append(all, scopeRequirement{object.String(e, "scopeName"), object.String(e, "operator"), object.Strings(e, "values")})
	}
	return all
}

// selects reports whether one of the names that an object has for the scope fits.
// An object without any has no name.
func (s scopeRequirement) selects(names ...string) bool {
	fits := func(name string) bool { return slices.Contains(s.values, name) }
	switch s.operator {
	case "Exists":
		return len(names) > 0
	case "DoesNotExist":
		return len(names) == 0
	case "In":
		return slices.ContainsFunc(names, fits)
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !fits(name) })
}

func podCharged(w *resource.Write) bool {
	switch w.Subresource {
	case "":
		return w.Old == nil || hasDeadline(w.Object) != hasDeadline(w.Old)
	case "resize":
		return true
	}
	return false
}

func hasDeadline(pod map[string]any) bool {
	deadline, ok := object.Int(pod, "spec", "activeDeadlineSeconds")
	return ok && deadline >= 0
}

// quotaPodResources are what quotas can limit of pods, besides huge pages and
// extended resources.
var quotaPodResources = append([]string{"count/pods", "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"}, podQuotaResources...)

func measuresPod(name string) bool {
	return slices.Contains(quotaPodResources, name) || isQuotaHugePages(name) || isQuotaExtended(name)
}

// implicitResource begins the names of extended resources that device classes
// have.
const implicitResource = "requests.deviceclass.resource.kubernetes.io/"

func isQuotaExtended(name string) bool {
	return strings.HasPrefix(name, "requests.") && (!isNativeResource(name) || strings.HasPrefix(name, implicitResource))
}

func podUsage(pod map[string]any) map[string]any {
	usage := one("count/pods")
	if phase := object.String(pod, "status", "phase"); phase == "Failed" || phase == "Succeeded" {
		return usage
	}
	spec := object.Map(pod, "spec")
	requests, limits, overhead := podTotal(spec, "requests"), podTotal(spec, "limits"), object.Map(spec, "overhead")
	addList(requests, overhead)
	for name, q := range overhead {
		if limit, _ := limits[name].(string); nonzero(limit) {
			addList(limits, map[string]any{name: q})
		}
	}
	maps.Copy(usage, computeUsage(requests, limits))
	return usage
}

// computeUsage is what quotas call that which a pod or a container requests and
// is limited to.
func computeUsage(requests, limits map[string]any) map[string]any {
	usage := one("pods")
	for name, q := range requests {
		switch {
		case name == "cpu", name == "memory", name == "ephemeral-storage", isHugePages(name):
			usage[name], usage["requests."+name] = q, q
		case isExtendedResource(name), strings.HasPrefix("requests."+name, implicitResource):
			usage["requests."+name] = q
		}
	}
	for name, q := range limits {
		if name == "cpu" || name == "memory" || name == "ephemeral-storage" {
			usage["limits."+name] = q
		}
	}
	return usage
}

// podLacks are the quantities of CPU and memory that quotas limit and containers
// leave open: "cpu for: a,b; memory for: a".
func podLacks(pod map[string]any, measured []string) string {
	spec := object.Map(pod, "spec")
	for _, member := range []string{"requests", "limits"} {
		for name := range object.Map(spec, "resources", member) {
			if name == "cpu" || name == "memory" || isHugePages(name) {
				return "" // the pod says it as a whole
			}
		}
	}
	var lacks []string
	for _, name := range measured {
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "limits.")
		if plain != "cpu" && plain != "memory" {
			continue
		}
		var containers []string
		for _, member := range []string{"containers", "initContainers"} {
			for c := range object.Each(spec[member]) {
				if !has(computeUsage(object.Map(c, "resources", "requests"), object.Map(c, "resources", "limits")), name) {
					containers = append(containers, object.String(c, "name"))
				}
			}
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			lacks = append(lacks, name+" for: "+strings.Join(slices.Compact(containers), ","))
		}
	}
	return strings.Join(lacks, "; ")
}

func podInScope(pod map[string]any, s scopeRequirement) bool {
	spec := object.Map(pod, "spec")
	class := object.String(pod, "status", "qosClass")
	if class == "" {
		class = qosClass(spec)
	}
	switch s.scope {
	case "Terminating":
		return hasDeadline(pod)
	case "NotTerminating":
		return !hasDeadline(pod)
	case "BestEffort":
		return class == bestEffort
	case "NotBestEffort":
		return class != bestEffort
	case "PriorityClass":
		return s.selects(given(object.String(spec, "priorityClassName"))...)
	case "CrossNamespacePodAffinity":
		return hasForeignAffinity(object.Map(spec, "affinity", "podAffinity")) || hasForeignAffinity(object.Map(spec, "affinity", "podAntiAffinity"))
	}
	return false
}

// given are the names that are not "".
func given(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// hasForeignAffinity reports whether one of the terms of an affinity is about
// pods of other namespaces.
func hasForeignAffinity(affinity map[string]any) bool {
	isForeign := func(term map[string]any) bool {
		return len(object.List(term, "namespaces")) > 0 || term["namespaceSelector"] != nil
	}
	for term := range object.Each(affinity["requiredDuringSchedulingIgnoredDuringExecution"]) {
		if isForeign(term) {
			return true
		}
	}
	for weighted := range object.Each(affinity["preferredDuringSchedulingIgnoredDuringExecution"]) {
		if isForeign(object.Map(weighted, "podAffinityTerm")) {
			return true
		}
	}
	return false
}

func serviceUsage(service map[string]any) map[string]any {
	usage := one("count/services", "services")
	ports := object.List(service, "spec", "ports")
	n := len(ports)
	typ := object.String(service, "spec", "type")
	if typ == "LoadBalancer" {
		usage["services.loadbalancers"] = "1"
		if object.Value(service, "spec", "allocateLoadBalancerNodePorts") == false {
			n = 0
			for port := range object.Each(ports) {
				if node, _ := object.Int(port, "nodePort"); node != 0 {
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

// classStorage is what stands between the name of a storage class and that of
// what is limited of its claims.
const classStorage = ".storageclass.storage.k8s.io/"

func claimCharged(w *resource.Write) bool { return w.Subresource == "" || w.Subresource == "status" }

func measuresClaim(name string) bool {
	if _, of, ok := strings.Cut(name, classStorage); ok {
		name = of
	}
	return name == "count/persistentvolumeclaims" || name == "persistentvolumeclaims" || name == "requests.storage"
}

func claimUsage(claim map[string]any) map[string]any {
	usage := one("persistentvolumeclaims", "count/persistentvolumeclaims")
	class, _ := claimClass(claim).(string)
	if class != "" {
		usage[class+classStorage+"persistentvolumeclaims"] = "1"
	}
	storage := object.String(claim, "spec", "resources", "requests", "storage")
	if storage == "" {
		return usage
	}
	if allocated := object.String(claim, "status", "allocatedResources", "storage"); allocated != "" && compare(allocated, storage) > 0 {
		storage = allocated
	}
	storage = roundToUnits(storage)
	usage["requests.storage"] = storage
	if class != "" {
		usage[class+classStorage+"requests.storage"] = storage
	}
	return usage
}

func claimInScope(claim map[string]any, s scopeRequirement) bool {
	return s.scope == "VolumeAttributesClass" && s.selects(given(
		object.String(claim, "spec", "volumeAttributesClassName"),
		object.String(claim, "status", "currentVolumeAttributesClassName"),
		object.String(claim, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName"))...)
}

const (
	deviceClaimCount = "count/resourceclaims.resource.k8s.io"
	classDevices     = ".deviceclass.resource.k8s.io/devices"
	// allDevices is how many a claim has at most.
	allDevices = "32"
)

func measuresDevices(name string) bool {
	return name == deviceClaimCount || strings.HasSuffix(name, classDevices)
}

// deviceUsage counts the devices of each class that a claim can come to have.
func deviceUsage(claim map[string]any) map[string]any {
	usage := one(deviceClaimCount)
	for request := range object.Each(claimRequests(claim)) {
		most := map[string]any{}
		for choice := range object.Each(request["firstAvailable"]) {
			maxList(most, devicesOf(choice))
		}
		if exactly := object.Map(request, "exactly"); exactly != nil && len(most) == 0 {
			most = devicesOf(exactly)
		}
		addList(usage, most)
	}
	return usage
}

func devicesOf(request map[string]any) map[string]any {
	n := "0"
	switch count, _ := object.Int(request, "count"); object.String(request, "allocationMode") {
	case "ExactCount":
		n = fmt.Sprint(count)
	case "All":
		n = allDevices
	}
	return map[string]any{object.String(request, "deviceClassName") + classDevices: n}
}

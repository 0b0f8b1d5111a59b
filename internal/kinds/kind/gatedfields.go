package kind

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// A gatedField is a field that a server drops from objects if its feature gate is off,
// unless the old object has the field anywhere.
type gatedField struct {
	gate string
	// path names the members from the spec of a Pod, or from the object, to the field.
	// "[]" follows a list, "{}" a map. "*" is every list of containers, "*Statuses" every list of their
	// statuses, "**" the object itself and all objects within it. "?" follows a member that is removed
	// too if it has no other fields.
	path string
	// to is the value that the field gets instead of being dropped, nil for none. It does
	// not count as a value of the old object.
	to any
	// keeps is a value that is not dropped, nil for none. It does not count either.
	keeps any
	// drop, if not nil, drops the field from the spec of a Pod, or the object.
	drop func(obj map[string]any)
	// since is the minor number of the first release that drops the field. Older ones keep it
	// or, which spares them the search, do not have it.
	since int
	// statusKeeps is set for a field of the status that only writes to the object drop.
	statusKeeps bool
	// until is the minor number of the first release that keeps the field, whose gate is gone,
	// or that does not have it.
	until int
}

// gatedPodFields are those of the spec of Pods and of pod templates.
var gatedPodFields = []gatedField{
	{gate: "ClusterTrustBundleProjection", path: "volumes[].projected.sources[].clusterTrustBundle"},
	{gate: "ContainerRestartRules", path: "*.restartPolicyRules"},
	{gate: "ContainerRestartRules", path: "containers[].restartPolicy", since: 34},
	{gate: "ContainerRestartRules", path: "ephemeralContainers[].restartPolicy", since: 34},
	{gate: "ContainerRestartRules", path: "initContainers[].restartPolicy", keeps: "Always", since: 34},
	{gate: "ContainerStopSignals", path: "*.lifecycle?.stopSignal"},
	{gate: "DynamicResourceAllocation", path: "resourceClaims"},
	{gate: "DynamicResourceAllocation", path: "*.resources.claims"},
	{gate: "EnvFiles", path: "*.env[].valueFrom.fileKeyRef"},
	{gate: "GenericWorkload", path: "schedulingGroup"},
	{gate: "GenericWorkload", path: "workloadRef", until: 36},
	{gate: "HostnameOverride", path: "hostnameOverride"},
	{gate: "ImageVolume", path: "volumes[].image", drop: dropImageVolumes},
	{gate: "InPlacePodVerticalScaling", path: "*.resizePolicy"},
	{gate: "PodCertificateRequest", path: "volumes[].projected.sources[].podCertificate"},
	{gate: "PodLevelResources", path: "resources"},
	{gate: "ProcMountType", path: "*.securityContext.procMount", to: "Default"},
	{gate: "SELinuxChangePolicy", path: "securityContext.seLinuxChangePolicy"},
	{gate: "SupplementalGroupsPolicy", path: "securityContext.supplementalGroupsPolicy"},
	{gate: "UserNamespacesSupport", path: "hostUsers"},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].configMap.defaultUser", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].configMap.items[].user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].downwardAPI.defaultUser", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].downwardAPI.items[].user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.defaultUser", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].clusterTrustBundle.user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].configMap.items[].user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].downwardAPI.items[].user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].podCertificate.user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].secret.items[].user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].projected.sources[].serviceAccountToken.user", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].secret.defaultUser", since: 37},
	{gate: "AtomicWriteVolumeUserFields", path: "volumes[].secret.items[].user", since: 37},
	{gate: "EmptyDirVolumeMode", path: "volumes[].emptyDir.mode", since: 37},
	{gate: "EvictionRequestAPI", path: "evictionResponders", since: 37},
	{gate: "GRPCContainerProbeTLS", path: "*.livenessProbe.grpc.mode", since: 37},
	{gate: "GRPCContainerProbeTLS", path: "*.readinessProbe.grpc.mode", since: 37},
	{gate: "GRPCContainerProbeTLS", path: "*.startupProbe.grpc.mode", since: 37},
	{gate: "H2CContainerProbe", path: "*.lifecycle.postStart.httpGet.protocol", since: 37},
	{gate: "H2CContainerProbe", path: "*.lifecycle.preStop.httpGet.protocol", since: 37},
	{gate: "H2CContainerProbe", path: "*.livenessProbe.httpGet.protocol", since: 37},
	{gate: "H2CContainerProbe", path: "*.readinessProbe.httpGet.protocol", since: 37},
	{gate: "H2CContainerProbe", path: "*.startupProbe.httpGet.protocol", since: 37},
	{gate: "VolumeBindMountOptions", path: "*.volumeMounts[].bindMountOptions", since: 37},
}

// gatedFields are those of other kinds, by group and kind.
var gatedFields = map[resource.Kind][]gatedField{
	storedKind("", "PersistentVolume"): {{gate: "VolumeAttributesClass", path: "spec.volumeAttributesClassName"}},
	storedKind("", "PersistentVolumeClaim"): {
		{gate: "VolumeAttributesClass", path: "spec.volumeAttributesClassName"},
		{gate: "VolumeAttributesClass", path: "status.currentVolumeAttributesClassName"},
		{gate: "VolumeAttributesClass", path: "status.modifyVolumeStatus"},
		{gate: "CSIVolumeHealth", path: "status.healthStatus"},
	},
	storedKind("", "Node"): {
		{gate: "InPlacePodVerticalScalingSchedulerPreemption", path: "spec.podPreemptionPolicy", since: 37},
		{gate: "NodeDeclaredFeatures", path: "status.declaredFeatures", since: 35},
		{gate: "SupplementalGroupsPolicy", path: "status.features", statusKeeps: true},
	},
	storedKind("", "Pod"): { // v1.32 keeps the fields of its status
		{gate: "CSIVolumeHealth", path: "status.volumeHealth"},
		{gate: "DRAExtendedResource", path: "status.extendedResourceClaimStatus", since: 34},
		{gate: "DRANodeAllocatableResources", path: "status.nodeAllocatableResourceClaimStatuses", since: 36},
		{gate: "DynamicResourceAllocation", path: "status.resourceClaimStatuses", since: 33},
		{gate: "ImageVolumeWithDigest", path: "status.*Statuses.volumeMounts[].volumeStatus", since: 36},
		{gate: "InPlacePodLevelResourcesVerticalScaling", path: "status.allocatedResources", since: 35},
		{gate: "InPlacePodLevelResourcesVerticalScaling", path: "status.resources", since: 35},
		{gate: "InPlacePodVerticalScaling", path: "status.*Statuses.allocatedResources", since: 33},
		{gate: "InPlacePodVerticalScaling", path: "status.*Statuses.resources", since: 33},
		{gate: "PodObservedGenerationTracking", path: "status.conditions[].observedGeneration", since: 33},
		{gate: "PodObservedGenerationTracking", path: "status.observedGeneration", since: 33},
		{gate: "ResourceHealthStatus", path: "status.*Statuses.allocatedResourcesStatus", since: 33},
		{gate: "ResourceHealthStatusMessage", path: "status.*Statuses.allocatedResourcesStatus[].resources[].message", since: 36},
		{gate: "SupplementalGroupsPolicy", path: "status.*Statuses.user", since: 33},
	},
	storedKind("apiextensions.k8s.io", "CustomResourceDefinition"): {
		{gate: "CRDValidationRatcheting", path: "spec.versions[].schema.openAPIV3Schema.**.x-kubernetes-validations[].optionalOldSelf"},
	},
	storedKind("batch", "Job"):              {{gate: "WorkloadWithJob", path: "spec.scheduling"}},
	storedKind("batch", "CronJob"):          {{gate: "WorkloadWithJob", path: "spec.jobTemplate.spec.scheduling"}},
	storedKind("storage.k8s.io", "CSINode"): {{gate: "CSIVolumeHealth", path: "status.storageHealth"}},
	storedKind("apps", "Deployment"):        {{gate: "DeploymentReplicaSetTerminatingReplicas", path: "status.terminatingReplicas", since: 33}},
	storedKind("apps", "ReplicaSet"):        {{gate: "DeploymentReplicaSetTerminatingReplicas", path: "status.terminatingReplicas", since: 33}},
	storedKind("apps", "StatefulSet"):       {{gate: "MaxUnavailableStatefulSet", path: "spec.updateStrategy.rollingUpdate.maxUnavailable"}},
	storedKind("autoscaling", "HorizontalPodAutoscaler"): {
		{gate: "HPAConfigurableTolerance", path: "spec.behavior.scaleDown.tolerance"},
		{gate: "HPAConfigurableTolerance", path: "spec.behavior.scaleUp.tolerance"},
	},
	storedKind("coordination.k8s.io", "Lease"): {
		{gate: "CoordinatedLeaderElection", path: "spec.strategy"},
		{gate: "CoordinatedLeaderElection", path: "spec.preferredHolder"},
	},
	storedKind("discovery.k8s.io", "EndpointSlice"): {{gate: "PreferSameTrafficDistribution", path: "endpoints[].hints.forNodes", since: 33}},
	storedKind("resource.k8s.io", "DeviceClass"):    {{gate: "DRAExtendedResource", path: "spec.extendedResourceName"}},
	storedKind("resource.k8s.io", "ResourceClaim"): append(gatedClaimFields("spec."),
		gatedField{gate: "DRAAdminAccess", path: "status.allocation.devices.results[].adminAccess"},
		gatedField{gate: "DRAConsumableCapacity", path: "status.allocation.devices.results[].consumedCapacity", since: 34},
		gatedField{gate: "DRAConsumableCapacity", path: "status.allocation.devices.results[].shareID", since: 34},
		gatedField{gate: "DRAConsumableCapacity", path: "status.devices[].shareID", since: 34},
		gatedField{gate: "DRADeviceBindingConditions", path: "status.allocation.allocationTimestamp", since: 34, until: 35},
		gatedField{gate: "DRADeviceBindingConditions", path: "status.allocation.devices.results[].bindingConditions", since: 34},
		gatedField{gate: "DRADeviceBindingConditions", path: "status.allocation.devices.results[].bindingFailureConditions", since: 34},
		gatedField{gate: "DRAResourceClaimDeviceStatus", path: "status.devices"}),
	storedKind("resource.k8s.io", "ResourceClaimTemplate"): gatedClaimFields("spec.spec."),
	storedKind("resource.k8s.io", "ResourceSlice"): {
		{gate: "DRAConsumableCapacity", path: "spec.devices[].allowMultipleAllocations"},
		{gate: "DRAConsumableCapacity", path: "spec.devices[].capacity{}.requestPolicy"},
		{gate: "DRADeviceBindingConditions", path: "spec.devices[].bindingConditions"},
		{gate: "DRADeviceBindingConditions", path: "spec.devices[].bindingFailureConditions"},
		{gate: "DRADeviceBindingConditions", path: "spec.devices[].bindsToNode"},
		{gate: "DRADeviceTaints", path: "spec.devices[].taints"},
		{gate: "DRAListTypeAttributes", path: "spec.devices[].attributes{}.bools"},
		{gate: "DRAListTypeAttributes", path: "spec.devices[].attributes{}.ints"},
		{gate: "DRAListTypeAttributes", path: "spec.devices[].attributes{}.strings"},
		{gate: "DRAListTypeAttributes", path: "spec.devices[].attributes{}.versions"},
		{gate: "DRANodeAllocatableResources", path: "spec.devices[].nodeAllocatableResourceMappings"},
		{gate: "DRANodeAllocatableResources", path: "spec.devices[].nodeAllocatableResources"},
		{gate: "DRADeviceCompatibilityGroups", path: "spec.devices[].consumesCounters[].compatibilityGroups", since: 37},
		{gate: "DRAOptionalNodeOperations", path: "spec.skipNodeOperations", since: 37},
		{gate: "DRAPartitionableDevicesType", path: "spec.partitionTypeAttribute", since: 37},
		{gate: "DRAPartitionableDevices", path: "spec.devices[].allNodes"},
		{gate: "DRAPartitionableDevices", path: "spec.devices[].consumesCounters"},
		{gate: "DRAPartitionableDevices", path: "spec.devices[].nodeName"},
		{gate: "DRAPartitionableDevices", path: "spec.devices[].nodeSelector"},
		{gate: "DRAPartitionableDevices", path: "spec.perDeviceNodeSelection"},
		{gate: "DRAPartitionableDevices", path: "spec.sharedCounters"},
	},
	storedKind("scheduling.k8s.io", "PodGroup"): append(gatedGroupFields("spec."),
		gatedField{gate: "DRAWorkloadResourceClaims", path: "status.resourceClaimStatuses"}),
	storedKind("scheduling.k8s.io", "Workload"):          gatedGroupFields("spec.podGroupTemplates[]."),
	storedKind("scheduling.k8s.io", "CompositePodGroup"): {{gate: "PodGroupPreemptionPolicy", path: "spec.preemptionPolicy", since: 37}},
	storedKind("storage.k8s.io", "CSIDriver"): {
		{gate: "CSIServiceAccountTokenSecrets", path: "spec.serviceAccountTokenInSecrets"},
		{gate: "MutableCSINodeAllocatableCount", path: "spec.nodeAllocatableUpdatePeriodSeconds"},
		{gate: "VolumeLimitScaling", path: "spec.preventPodSchedulingIfMissing"},
	},
	storedKind("storage.k8s.io", "VolumeAttachment"): {
		{gate: "MutableCSINodeAllocatableCount", path: "status.attachError.errorCode"},
		{gate: "MutableCSINodeAllocatableCount", path: "status.detachError.errorCode"},
	},
}

// gatedClaimFields are the fields of the spec of a ResourceClaim, whose path is given.
func gatedClaimFields(spec string) []gatedField {
	return []gatedField{
		{gate: "DRAAdminAccess", path: spec + "devices.requests[].exactly.adminAccess"},
		{gate: "DRAConsumableCapacity", path: spec + "devices.constraints[].distinctAttribute", since: 35},
		{gate: "DRAConsumableCapacity", path: spec + "devices.requests[].exactly.capacity"},
		{gate: "DRAConsumableCapacity", path: spec + "devices.requests[].firstAvailable[].capacity"},
		{gate: "DRADerivedAttributes", path: spec + "devices.requests[].exactly.derivedAttributes", since: 37},
		{gate: "DRADerivedAttributes", path: spec + "devices.requests[].firstAvailable[].derivedAttributes", since: 37},
		{gate: "DRADeviceTaints", path: spec + "devices.requests[].exactly.tolerations", since: 35},
		{gate: "DRADeviceTaints", path: spec + "devices.requests[].firstAvailable[].tolerations", since: 35},
		{gate: "DRAPrioritizedList", path: spec + "devices.requests[].firstAvailable"},
	}
}

// gatedGroupFields are the fields of a PodGroup, or of a template of one, whose path is given.
func gatedGroupFields(group string) []gatedField {
	return []gatedField{
		{gate: "DRAWorkloadResourceClaims", path: group + "resourceClaims"},
		{gate: "TopologyAwareWorkloadScheduling", path: group + "schedulingConstraints"},
		{gate: "WorkloadAwarePreemption", path: group + "disruptionMode", until: 37},
		{gate: "WorkloadAwarePreemption", path: group + "priority", until: 37},
		{gate: "WorkloadAwarePreemption", path: group + "priorityClassName", until: 37},
		{gate: "PodGroupPreemptionPolicy", path: group + "preemptionPolicy", since: 37},
		{gate: "CompositePodGroup", path: group + "parentCompositePodGroupName", since: 37},
	}
}

// podSpecs are the paths of the specs of Pods, by group and kind.
var podSpecs = map[resource.Kind][]string{
	storedKind("", "Pod"):                   {"spec"},
	storedKind("", "PodTemplate"):           {"template", "spec"},
	storedKind("", "ReplicationController"): {"spec", "template", "spec"},
	storedKind("apps", "DaemonSet"):         {"spec", "template", "spec"},
	storedKind("apps", "Deployment"):        {"spec", "template", "spec"},
	storedKind("apps", "ReplicaSet"):        {"spec", "template", "spec"},
	storedKind("apps", "StatefulSet"):       {"spec", "template", "spec"},
	storedKind("batch", "CronJob"):          {"spec", "jobTemplate", "spec", "template", "spec"},
	storedKind("batch", "Job"):              {"spec", "template", "spec"},
}

// storedKind is a key of the tables above. They have no versions: objects are prepared in
// the version that is stored.
func storedKind(group, kind string) resource.Kind {
	return resource.Kind{GroupVersion: resource.GroupVersion{Group: group}, Kind: kind}
}

// droppedFields returns those of the fields that a release drops, because their gates are off.
func droppedFields(r *release.Release, fields []gatedField) *fieldTree {
	off := &fieldTree{}
	for _, f := range fields {
		if r.Minor() >= f.since && (f.until == 0 || r.Minor() < f.until) && !r.Enabled(f.gate) {
			steps := parsePath(f.path)
			off.add(&droppedField{f, steps}, steps)
		}
	}
	return off
}

// dropGated returns a Prepare that drops the fields of feature gates that are off, and then
// calls prepare, which may be nil.
func dropGated(r *release.Release, t *resource.Type, prepare func(obj map[string]any, old object.View)) func(obj map[string]any, old object.View) {
	key := storedKind(t.Group, t.Kind)
	podSpec, hasPodSpec := podSpecs[key]
	if gatedFields[key] == nil && !hasPodSpec {
		return prepare
	}
	others := sync.OnceValue(func() *fieldTree { return droppedFields(r, gatedFields[key]) })
	ofPods := sync.OnceValue(func() *fieldTree { return droppedFields(r, gatedPodFields) })
	return func(obj map[string]any, old object.View) {
		dropFields(obj, nil, old, others())
		if hasPodSpec {
			dropFields(obj, podSpec, old, ofPods())
		}
		if prepare != nil {
			prepare(obj, old)
		}
	}
}

// dropGatedStatus is dropGated for writes to the status, which change nothing else.
func dropGatedStatus(r *release.Release, t *resource.Type, prepare func(obj map[string]any, old object.View)) func(obj map[string]any, old object.View) {
	var fields []gatedField
	for _, f := range gatedFields[storedKind(t.Group, t.Kind)] {
		if strings.HasPrefix(f.path, "status.") && !f.statusKeeps {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return prepare
	}
	off := sync.OnceValue(func() *fieldTree { return droppedFields(r, fields) })
	return func(obj map[string]any, old object.View) {
		dropFields(obj, nil, old, off())
		prepare(obj, old)
	}
}

// A droppedField is a gatedField whose gate is off, with the steps of its path.
type droppedField struct {
	gatedField
	steps []step
}

// A fieldTree is the tree of the paths of fields, in which one walk of an object finds those
// that it has.
type fieldTree struct {
	fields []*droppedField // whose last step is from the objects here
	below  []branch
}

// A branch leads from an object to those within it.
type branch struct {
	step
	*fieldTree
}

func (t *fieldTree) add(f *droppedField, path []step) {
	if len(path) == 1 {
		t.fields = append(t.fields, f)
		return
	}
	i := slices.IndexFunc(t.below, func(b branch) bool { return b.step == path[0] })
	if i < 0 {
		i = len(t.below)
		t.below = append(t.below, branch{path[0], &fieldTree{}})
	}
	t.below[i].add(f, path[1:])
}

// find appends the fields that obj has and that are not in found. It may leave out those that
// old has too.
func (t *fieldTree) find(obj, old map[string]any, found []*droppedField) []*droppedField {
	if object.Same(obj, old) {
		return found
	}
	for _, f := range t.fields {
		if obj[f.steps[len(f.steps)-1].name] != nil && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, b := range t.below {
		var was map[string]any
		if b.to == member {
			was, _ = old[b.name].(map[string]any)
		}
		for m := range b.members(obj) {
			found = b.find(m, was, found)
		}
	}
	return found
}

// dropFields drops the fields of the object at the path that old does not have.
func dropFields(obj map[string]any, path []string, old object.View, fields *fieldTree) {
	at := object.Map(obj, path...)
	was := old.At(path...).SharedMembers()
	found := fields.find(at, was, nil)
	if len(found) > 0 && old.IsNil() {
		for name, v := range obj {
			if name != "metadata" {
				obj[name] = object.Copy(v) // other new objects may share what is in it
			}
		}
		at = object.Map(obj, path...)
	}
	for _, f := range found {
		switch {
		case hasField(was, f.steps, f.to, f.keeps):
		case f.drop != nil:
			f.drop(at)
		default:
			removeField(at, f.steps, f.to, f.keeps)
		}
	}
}

// dropImageVolumes drops the volumes with an image, and the mounts of their names.
func dropImageVolumes(spec map[string]any) {
	dropped := map[any]bool{}
	keepItems(spec, "volumes", func(volume map[string]any) bool {
		if volume["image"] != nil {
			dropped[volume["name"]] = true
		}
		return volume["image"] == nil
	})
	if len(dropped) == 0 {
		return
	}
	for _, list := range containerLists {
		var containers []any
		for c := range object.Each(spec[list]) {
			c = object.ShallowCopy(c) // the old object may have it too
			keepItems(c, "volumeMounts", func(mount map[string]any) bool { return !dropped[mount["name"]] })
			containers = append(containers, c)
		}
		if containers != nil {
			spec[list] = containers
		}
	}
}

// keepItems removes the items of a list of objects for which keep is false, and a list that
// has no others.
func keepItems(obj map[string]any, name string, keep func(item map[string]any) bool) {
	var kept []any
	for item := range object.Each(obj[name]) {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	if len(kept) == len(object.List(obj, name)) {
		return
	}
	if obj[name] = kept; len(kept) == 0 {
		delete(obj, name)
	}
}

// The lists of containers of the spec of a Pod, and those of their statuses.
var (
	containerLists = []string{"initContainers", "containers", "ephemeralContainers"}
	statusLists    = []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}
)

// A step is a step of the path of a gatedField.
type step struct {
	name string // "" if to is enough
	to   stepTo
}

// stepTo is where a step leads.
type stepTo uint8

const (
	member         stepTo = iota // the member name
	optionalMember               // name?
	items                        // name[]
	values                       // name{}
	containers                   // *
	statuses                     // *Statuses
	descendants                  // **
)

func parsePath(path string) (steps []step) {
	for _, text := range strings.Split(path, ".") {
		steps = append(steps, parseStep(text))
	}
	return steps
}

func parseStep(text string) step {
	switch text {
	case "*":
		return step{to: containers}
	case "*Statuses":
		return step{to: statuses}
	case "**":
		return step{to: descendants}
	}
	for suffix, to := range map[string]stepTo{"?": optionalMember, "[]": items, "{}": values} {
		if name, ok := strings.CutSuffix(text, suffix); ok {
			return step{name, to}
		}
	}
	return step{name: text}
}

// members iterates over the objects to which a step leads from obj.
func (s step) members(obj map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		switch s.to {
		case member, optionalMember:
			if m, ok := obj[s.name].(map[string]any); ok {
				yield(m)
			}
		case items:
			object.Each(obj[s.name])(yield)
		case values:
			all, _ := obj[s.name].(map[string]any)
			for _, v := range all {
				if m, ok := v.(map[string]any); ok && !yield(m) {
					return
				}
			}
		case containers:
			eachIn(obj, containerLists, yield)
		case statuses:
			eachIn(obj, statusLists, yield)
		case descendants:
			object.All(obj, func(_ string, v any) bool {
				m, ok := v.(map[string]any)
				return !ok || yield(m)
			})
		}
	}
}

// eachIn yields the objects in lists of obj.
func eachIn(obj map[string]any, lists []string, yield func(map[string]any) bool) {
	for _, list := range lists {
		for m := range object.Each(obj[list]) {
			if !yield(m) {
				return
			}
		}
	}
}

// hasField reports whether obj has a field with a value other than those given.
func hasField(obj map[string]any, path []step, except ...any) bool {
	if obj == nil {
		return false
	}
	if len(path) == 1 {
		v := obj[path[0].name]
		return v != nil && !slices.Contains(except, v)
	}
	for m := range path[0].members(obj) {
		if hasField(m, path[1:], except...) {
			return true
		}
	}
	return false
}

// removeField removes a field of obj, or sets it to a value that is not nil, unless it has the
// value keeps.
func removeField(obj map[string]any, path []step, to, keeps any) {
	if len(path) == 1 {
		name := path[0].name
		switch v := obj[name]; {
		case v == nil, v == keeps:
		case to == nil:
			delete(obj, name)
		default:
			obj[name] = to
		}
		return
	}
	for m := range path[0].members(obj) {
		had := hasField(m, path[1:])
		removeField(m, path[1:], to, keeps)
		if path[0].to == optionalMember && had && len(m) == 0 {
			delete(obj, path[0].name)
		}
	}
}

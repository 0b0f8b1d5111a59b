package kinds

import (
	"iter"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultPod completes a pod: what a template leaves open too, and what only a
// pod has.
func defaultPod(pod map[string]any) {
	spec := child(pod, "spec")
	for c := range resourceful(spec) {
		requestLimits(c)
	}
	defaultPodResources(spec)
	fill(spec, "enableServiceLinks", true)
	if object.Bool(spec, "hostNetwork") {
		for c := range resourceful(spec) {
			for port := range object.Each(c["ports"]) {
				if port["containerPort"] != int64(0) {
					fillZero(port, "hostPort", port["containerPort"])
				}
			}
		}
	}
	defaultPodSpec(spec)
	dropAnnotations(pod, initContainerAnnotations)
	if grace, _ := object.Int(spec, "terminationGracePeriodSeconds"); grace < 0 {
		spec["terminationGracePeriodSeconds"] = int64(1)
	}
	if status := object.Map(pod, "status"); status != nil {
		defaultPodStatus(status)
	}
}

// defaultTemplate completes a pod template.
func defaultTemplate(template map[string]any) {
	defaultPodSpec(child(template, "spec"))
	dropAnnotations(template, initContainerAnnotations)
}

// defaultPodSpec completes what pods and their templates share.
func defaultPodSpec(spec map[string]any) {
	fill(spec, "dnsPolicy", "ClusterFirst")
	fill(spec, "restartPolicy", "Always")
	fill(spec, "terminationGracePeriodSeconds", int64(30))
	fill(spec, "schedulerName", "default-scheduler")
	if spec["securityContext"] == nil {
		spec["securityContext"] = map[string]any{}
	}
	defaultServiceAccount(spec)
	for c := range allContainers(spec) {
		defaultContainer(c)
	}
	for v := range object.Each(spec["volumes"]) {
		defaultVolume(v)
	}
	roundList(spec["overhead"])
	roundRequirements(spec["resources"])
}

// defaultServiceAccount brings the two names of the service account, of which
// one is the older, in line.
func defaultServiceAccount(spec map[string]any) {
	name := object.String(spec, "serviceAccountName")
	if name == "" {
		name = object.String(spec, "serviceAccount")
	}
	if name != "" {
		spec["serviceAccountName"], spec["serviceAccount"] = name, name
	} else {
		delete(spec, "serviceAccount")
	}
}

func defaultContainer(c map[string]any) {
	if c["imagePullPolicy"] == nil {
		c["imagePullPolicy"] = pullPolicy(object.String(c, "image"))
	}
	fill(c, "terminationMessagePath", "/dev/termination-log")
	fill(c, "terminationMessagePolicy", "File")
	for port := range object.Each(c["ports"]) {
		fillZero(port, "protocol", "TCP")
	}
	for variable := range object.Each(c["env"]) {
		defaultFieldRef(object.Map(variable, "valueFrom"))
		if key := object.Map(variable, "valueFrom", "fileKeyRef"); key != nil {
			fill(key, "optional", false)
		}
	}
	roundRequirements(c["resources"])
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if probe := object.Map(c, name); probe != nil {
			defaultProbe(probe)
		}
	}
	for _, name := range []string{"postStart", "preStop"} {
		defaultHTTPGet(object.Map(c, "lifecycle", name))
	}
}

func defaultProbe(probe map[string]any) {
	fillZero(probe, "timeoutSeconds", int64(1))
	fillZero(probe, "periodSeconds", int64(10))
	fillZero(probe, "successThreshold", int64(1))
	fillZero(probe, "failureThreshold", int64(3))
	defaultHTTPGet(probe)
	if grpc := object.Map(probe, "grpc"); grpc != nil {
		fill(grpc, "service", "")
	}
}

// defaultHTTPGet completes the request that a probe or a lifecycle handler
// makes.
func defaultHTTPGet(handler map[string]any) {
	if get := object.Map(handler, "httpGet"); get != nil {
		fillZero(get, "path", "/")
		fillZero(get, "scheme", "HTTP")
	}
}

// defaultFieldRef completes a reference to a field of the pod.
func defaultFieldRef(source map[string]any) {
	if ref := object.Map(source, "fieldRef"); ref != nil {
		fillZero(ref, "apiVersion", "v1")
	}
}

func defaultPodStatus(status map[string]any) {
	if ip := object.String(status, "podIP"); ip != "" && firstIP(status) != ip {
		status["podIPs"] = []any{map[string]any{"ip": ip}}
	} else if ip = firstIP(status); ip != "" {
		status["podIP"] = ip
	}
	for _, name := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for c := range object.Each(status[name]) {
			roundList(c["allocatedResources"])
			roundRequirements(c["resources"])
		}
	}
	roundList(status["allocatedResources"])
	roundRequirements(status["resources"])
}

func firstIP(status map[string]any) string {
	for ip := range object.Each(status["podIPs"]) {
		return object.String(ip, "ip")
	}
	return ""
}

// initContainerAnnotations told of init containers before they had fields.
var initContainerAnnotations = []string{
	"pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
	"pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses",
}

// resourceful are the containers that have resources of their own: all but
// ephemeral ones.
func resourceful(spec map[string]any) iter.Seq[map[string]any] {
	return containersIn(spec, "containers", "initContainers")
}

func allContainers(spec map[string]any) iter.Seq[map[string]any] {
	return containersIn(spec, "containers", "initContainers", "ephemeralContainers")
}

func containersIn(spec map[string]any, lists ...string) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, name := range lists {
			for c := range object.Each(spec[name]) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// preparePod makes a new pod one that waits to be run.
func preparePod(pod, old map[string]any) {
	spec, oldSpec := child(pod, "spec"), object.Map(old, "spec")
	dropDisabledPodFields(spec, oldSpec)
	if old != nil {
		object.Keep(pod, old, "status")
		return
	}
	class := object.String(pod, "status", "qosClass")
	if class == "" {
		class = qosClass(spec)
	}
	status := map[string]any{"phase": "Pending", "qosClass": class}
	pod["status"] = status
	if len(object.List(spec, "schedulingGates")) > 0 {
		status["conditions"] = []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
			"message":            "Scheduling is blocked due to non-empty scheduling gates",
			"lastProbeTime":      nil,
			"lastTransitionTime": object.Value(pod, "metadata", "creationTimestamp"),
		}}
	}
	mergeMatchLabelKeys(spec, object.Map(pod, "metadata", "labels"))
	profilesFromAnnotations(spec, object.Map(pod, "metadata", "annotations"))
}

// preparePodStatus keeps what a writer of the status may not take from it.
func preparePodStatus(pod, old map[string]any) {
	statusNotOwners.prepare(pod, old)
	status, oldStatus := child(pod, "status"), object.Map(old, "status")
	inherit(status, oldStatus, "qosClass", "observedGeneration")
	without(status, oldStatus, "nodeAllocatableResourceClaimStatuses")
	if !hasVolumeStatus(oldStatus) {
		for mount := range statusMounts(status) {
			delete(mount, "volumeStatus")
		}
	}
	// Conditions of one type are told apart by their order.
	known := map[any][]map[string]any{}
	for c := range object.Each(oldStatus["conditions"]) {
		known[c["type"]] = append(known[c["type"]], c)
	}
	for c := range object.Each(status["conditions"]) {
		if same := known[c["type"]]; len(same) > 0 {
			inherit(c, same[0], "observedGeneration")
			known[c["type"]] = same[1:]
		}
	}
}

// statusMounts are the mounts that the status of a pod tells of.
func statusMounts(status map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, list := range statusLists {
			for c := range object.Each(status[list.statuses]) {
				for mount := range object.Each(c["volumeMounts"]) {
					if !yield(mount) {
						return
					}
				}
			}
		}
	}
}

func hasVolumeStatus(status map[string]any) bool {
	for mount := range statusMounts(status) {
		if mount["volumeStatus"] != nil {
			return true
		}
	}
	return false
}

// dropDisabledPodFields takes out the fields of features that are off in the
// release, unless old uses them.
func dropDisabledPodFields(spec, old map[string]any) {
	without(spec, old, "schedulingGroup")
	if !usesStopSignal(old) {
		for c := range allContainers(spec) {
			lifecycle := object.Map(c, "lifecycle")
			if lifecycle["stopSignal"] == nil {
				continue
			}
			if delete(lifecycle, "stopSignal"); len(lifecycle) == 0 {
				delete(c, "lifecycle")
			}
		}
	}
	for _, name := range []string{"clusterTrustBundle", "podCertificate"} {
		if !usesProjection(old, name) {
			for v := range object.Each(spec["volumes"]) {
				for source := range object.Each(object.Value(v, "projected", "sources")) {
					delete(source, name)
				}
			}
		}
	}
}

func usesStopSignal(spec map[string]any) bool {
	for c := range allContainers(spec) {
		if object.Value(c, "lifecycle", "stopSignal") != nil {
			return true
		}
	}
	return false
}

func usesProjection(spec map[string]any, name string) bool {
	for v := range object.Each(spec["volumes"]) {
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			if source[name] != nil {
				return true
			}
		}
	}
	return false
}

// mergeMatchLabelKeys writes the pod's own values of matchLabelKeys and
// mismatchLabelKeys into the label selectors beside them.
func mergeMatchLabelKeys(spec, labels map[string]any) {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := object.Map(spec, "affinity", kind)
		for preferred := range object.Each(affinity["preferredDuringSchedulingIgnoredDuringExecution"]) {
			mergeLabelKeys(object.Map(preferred, "podAffinityTerm"), labels)
		}
		for term := range object.Each(affinity["requiredDuringSchedulingIgnoredDuringExecution"]) {
			mergeLabelKeys(term, labels)
		}
	}
	for constraint := range object.Each(spec["topologySpreadConstraints"]) {
		mergeLabelKeys(constraint, labels)
	}
}

func mergeLabelKeys(term, labels map[string]any) {
	selector := object.Map(term, "labelSelector")
	if selector == nil {
		return // selects nothing
	}
	for _, keys := range []struct{ member, operator string }{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		for _, key := range object.Strings(term, keys.member) {
			if value, ok := labels[key]; ok {
				selector["matchExpressions"] = append(object.List(selector, "matchExpressions"),
					map[string]any{"key": key, "operator": keys.operator, "values": []any{value}})
			}
		}
	}
}

// profilesFromAnnotations gives containers the AppArmor profiles that
// annotations, the older way, ask for.
func profilesFromAnnotations(spec, annotations map[string]any) {
	if object.String(spec, "os", "name") == "windows" {
		return
	}
	for c := range allContainers(spec) {
		profile := appArmorProfile(object.String(annotations, appArmorPrefix+object.String(c, "name")))
		if profile == nil || object.Value(c, "securityContext", "appArmorProfile") != nil ||
			validation.Equal(profile, object.Value(spec, "securityContext", "appArmorProfile")) {
			continue
		}
		child(c, "securityContext")["appArmorProfile"] = profile
	}
}

// appArmorProfile is the profile that an annotation names; nil if it names
// none.
func appArmorProfile(annotation string) any {
	switch annotation {
	case "unconfined":
		return map[string]any{"type": "Unconfined"}
	case "runtime/default":
		return map[string]any{"type": "RuntimeDefault"}
	}
	local, ok := strings.CutPrefix(annotation, localhostPrefix)
	if !ok || local == "" || len(local) > maxProfilePath || strings.TrimSpace(local) != local {
		return nil
	}
	return map[string]any{"type": "Localhost", "localhostProfile": local}
}

// podGrace is the grace period of a pod's deletion: what is asked for, else the
// pod's own; none for a pod on no node and for one that has ended.
func podGrace(pod map[string]any, requested *int64) (int64, bool) {
	seconds := int64(30)
	if n, ok := object.Int(pod, "spec", "terminationGracePeriodSeconds"); ok {
		seconds = n
	}
	if requested != nil {
		seconds = *requested
	}
	switch phase := object.String(pod, "status", "phase"); {
	case object.String(pod, "spec", "nodeName") == "", phase == "Failed", phase == "Succeeded":
		seconds = 0
	}
	if seconds < 0 {
		seconds = 1
	}
	return seconds, true
}

// podIP is the pod's first address.
func podIP(pod map[string]any) string {
	status := object.Map(pod, "status")
	if ip := firstIP(status); ip != "" {
		return ip
	}
	return object.String(status, "podIP")
}

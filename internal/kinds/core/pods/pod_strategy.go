package pods

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A preparation prepares writes to Pods in a release.
type preparation struct {
	mergesSpread bool // mergeMatchLabelKeys includes topologySpreadConstraints
	annotates    bool // new Pods get AppArmor annotations for their profiles
	resources    bool // pod-level resources get their defaults here
	computesQOS  bool // the status of a new Pod does not decide its QoS class
	qos          qosRule
}

func preparationIn(r *release.Release) preparation {
	return preparation{
		mergesSpread: r.Enabled("MatchLabelKeysInPodTopologySpread") && r.Enabled(mergedSpread),
		annotates:    !r.Has(behavior.NoAppArmorAnnotations),
		resources:    r.Enabled(deferredResources),
		computesQOS:  r.Has(behavior.ComputesQOSClasses),
		qos:          qosRuleIn(r),
	}
}

// prepare sets the status of a new Pod, and merges matchLabelKeys and AppArmor
// annotations into its spec. An update keeps the old status.
func (p preparation) prepare(pod map[string]any, old object.View) {
	spec := object.EnsureMap(pod, "spec")
	if !old.IsNil() {
		object.Keep(pod, old, "status")
		if p.resources {
			keepPodResources(spec, old.At("spec"))
		}
		return
	}
	if p.resources {
		defaultResourcesAfterAdmission(spec)
	}
	if p.computesQOS {
		delete(pod, "status")
	}
	status := map[string]any{"phase": "Pending", "qosClass": p.qos.of(pod)}
	pod["status"] = status
	if len(object.List(spec, "schedulingGates")) > 0 {
		status["conditions"] = []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
			"message":            "Scheduling is blocked due to non-empty scheduling gates",
			"lastProbeTime":      nil,
			"lastTransitionTime": object.Value(pod, "metadata", "creationTimestamp"),
		}}
	}
	mergeMatchLabelKeys(spec, object.Map(pod, "metadata", "labels"), p.mergesSpread)
	annotations := object.Map(pod, "metadata", "annotations")
	copyAppArmorAnnotations(spec, annotations)
	if p.annotates {
		annotateAppArmor(pod, spec, annotations)
	}
}

// ignoresMetadata reports whether prepare neither reads nor changes the metadata of a new Pod.
func (p preparation) ignoresMetadata(pod map[string]any) bool {
	if p.annotates {
		return false
	}
	for name := range object.Map(pod, "metadata", "annotations") {
		if strings.HasPrefix(name, appArmorPrefix) {
			return false
		}
	}
	spec := object.Map(pod, "spec")
	return spec["schedulingGates"] == nil && spec["affinity"] == nil && spec["topologySpreadConstraints"] == nil
}

// preparePodStatus keeps the fields of the old object that a status update cannot
// remove.
func preparePodStatus(pod map[string]any, old object.View) {
	kind.StatusMetadataExceptOwners.Prepare(pod, old)
	status, oldStatus := object.EnsureMap(pod, "status"), old.At("status")
	kind.CopyMissing(status, oldStatus, "qosClass", "observedGeneration")
	// Conditions with the same type are matched in order.
	known := map[string][]object.View{}
	for c := range oldStatus.At("conditions").Objects() {
		known[c.String("type")] = append(known[c.String("type")], c)
	}
	for c := range object.Each(status["conditions"]) {
		typ := object.String(c, "type")
		if same := known[typ]; len(same) > 0 {
			kind.CopyMissing(c, same[0], "observedGeneration")
			known[typ] = same[1:]
		}
	}
}

// mergeMatchLabelKeys adds requirements for matchLabelKeys and mismatchLabelKeys to
// the label selectors next to them, in topologySpreadConstraints if spread is true. The
// values are the Pod's own labels.
func mergeMatchLabelKeys(spec, labels map[string]any, spread bool) {
	for _, name := range []string{"affinity", "topologySpreadConstraints"} {
		if v, ok := spec[name]; ok {
			spec[name] = object.Copy(v) // others may share what is in it
		}
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := object.Map(spec, "affinity", kind)
		for preferred := range object.Each(affinity["preferredDuringSchedulingIgnoredDuringExecution"]) {
			mergeLabelKeys(object.Map(preferred, "podAffinityTerm"), labels)
		}
		for term := range object.Each(affinity["requiredDuringSchedulingIgnoredDuringExecution"]) {
			mergeLabelKeys(term, labels)
		}
	}
	if !spread {
		return
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
	for _, keys := range []struct{ field, operator string }{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		for _, key := range object.Strings(term, keys.field) {
			if value, ok := labels[key]; ok {
				selector["matchExpressions"] = append(object.List(selector, "matchExpressions"),
					map[string]any{"key": key, "operator": keys.operator, "values": []any{value}})
			}
		}
	}
}

// copyAppArmorAnnotations sets appArmorProfile of containers from the deprecated
// annotations.
func copyAppArmorAnnotations(spec, annotations map[string]any) {
	if len(annotations) == 0 || object.String(spec, "os", "name") == "windows" {
		return
	}
	for _, name := range [...]string{"containers", "initContainers", "ephemeralContainers"} {
		for i, v := range object.List(spec, name) {
			c, _ := v.(map[string]any)
			profile := appArmorProfile(object.String(annotations, appArmorPrefix+object.String(c, "name")))
			if profile == nil || object.Value(c, "securityContext", "appArmorProfile") != nil ||
				validation.Equal(profile, object.Value(spec, "securityContext", "appArmorProfile")) {
				continue
			}
			c = object.ShallowCopy(c) // others may share it
			object.Own(c, "securityContext")["appArmorProfile"] = profile
			containers := slices.Clone(object.List(spec, name))
			containers[i] = c
			spec[name] = containers
		}
	}
}

// annotateAppArmor sets the AppArmor annotations of a new Pod's containers that have none
// from their profiles.
func annotateAppArmor(pod, spec, annotations map[string]any) {
	if object.String(spec, "os", "name") == "windows" {
		return
	}
	for c := range AllContainers(spec) {
		profile := object.Map(c, "securityContext", "appArmorProfile")
		if profile == nil {
			profile = object.Map(spec, "securityContext", "appArmorProfile")
		}
		key := appArmorPrefix + object.String(c, "name")
		if _, ok := annotations[key]; ok {
			continue
		}
		if text := appArmorAnnotation(profile); text != "" {
			object.Set(pod, text, "metadata", "annotations", key)
		}
	}
}

// appArmorAnnotation returns the annotation of a profile, or "" if there is none.
func appArmorAnnotation(profile map[string]any) string {
	switch object.String(profile, "type") {
	case "Unconfined":
		return "unconfined"
	case "RuntimeDefault":
		return "runtime/default"
	case "Localhost":
		if local, ok := profile["localhostProfile"].(string); ok {
			return localhostPrefix + local
		}
	}
	return ""
}

// appArmorProfile returns the profile that an annotation names, or nil if it is
// invalid.
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

// podGrace returns the grace period of a Pod's deletion, in seconds: the requested
// one or the Pod's own. It is 0 for a Pod without a node and for a finished Pod.
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

// podIP returns the first IP address of the Pod.
func podIP(pod map[string]any) string {
	status := object.Map(pod, "status")
	if ip := firstIP(status); ip != "" {
		return ip
	}
	return object.String(status, "podIP")
}

var podStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		Default:                  defaultPod,
		DefaultMetadata:          removeInitContainerAnnotations,
		DefaultStatus:            defaultPodStatus,
		ReadBack:                 completePodResources,
		Validate:                 validatePod,
		ValidateMetadata:         validatePodMetadata,
		WarningsBeforeCreate:     warnAppArmorAnnotations,
		CheckGracefulDelete:      podGrace,
		SelectableFields: []resource.Field{
			kind.SelectableField("spec.nodeName", "spec", "nodeName"),
			kind.SelectableField("spec.restartPolicy", "spec", "restartPolicy"),
			kind.SelectableField("spec.schedulerName", "spec", "schedulerName"),
			kind.SelectableField("spec.serviceAccountName", "spec", "serviceAccountName"),
			kind.WithDefault(kind.SelectableField("spec.hostNetwork", "spec", "hostNetwork"), "false"),
			kind.SelectableField("status.phase", "status", "phase"),
			{Label: "status.podIP", Value: podIP},
			{Label: "status.podIPs", Value: podIP},
			kind.SelectableField("status.nominatedNodeName", "status", "nominatedNodeName"),
			kind.SelectableField("spec.host", "spec", "nodeName"), // deprecated name of spec.nodeName
		},
		FieldLabelError: kind.FieldLabelNotSupported,
	},
	Warnings:         warnPod,
	MetadataWarnings: warnPodMetadata,
	Released: func(r *release.Release, s *resource.Strategy) {
		p := preparationIn(r)
		s.Prepare, s.PrepareIgnoresMetadata = p.prepare, p.ignoresMetadata
		s.SubresourceStrategies = map[string]resource.SubresourceStrategy{
			"ephemeralcontainers": {Prepare: ephemeralContainersIn(r), Validate: validateEphemeralContainers},
			"resize":              resizeIn(r),
		}
		if !r.Enabled("PodLevelResources") || p.resources {
			s.Default, s.ReadBack = defaultPodWithoutResources, nil
		}
		if r.Enabled("H2CContainerProbe") {
			setDefaults := s.Default
			s.Default = func(pod map[string]any) {
				setDefaults(pod)
				defaultProtocols(object.Map(pod, "spec"))
			}
		}
	},
	GenerationFields: []string{"spec"},
	GenerationSince:  behavior.PodGenerations,
	Status: kind.Status{
		OwnedByPrepare:  true,
		Metadata:        kind.StatusMetadataExceptOwners,
		Prepare:         preparePodStatus,
		Kept:            []string{"extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses", "resourceClaimStatuses"},
		KeptSince:       behavior.KeepsClaimStatuses,
		Validate:        validatePodStatus,
		WarningsOnWrite: warnPodStatus,
	},
	Cells:         podCells,
	RowConditions: podConditions,
}

package apps

import (
	"fmt"
	"maps"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateStatefulSet(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), statefulSetRules{}.spec)
	}
	rules := statefulSetRules{exists: true, recreates: old.String("spec", "updateStrategy", "type") == "Recreate"}
	// An update may keep an invalid template that is stored.
	rules.stored = validation.Collect(old.At("spec").SharedMembers(), nil, rules.spec)
	errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), rules.spec)
	fixed := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		was := old.At("spec")
		p.ImmutableAs("selector", "*metav1.LabelSelector", was)
		p.ImmutableAs("volumeClaimTemplates", "[]core.PersistentVolumeClaim", was)
		p.ImmutableAs("serviceName", "s", was)
		p.ImmutableAs("podManagementPolicy", "s", was)
	})
	spec := validation.NewPath("spec")
	if len(fixed) > 0 {
		errs = append(errs, validation.Forbidden(spec, fmt.Sprintf(statefulSetUpdates, "'revisionHistoryLimit', ")).Since(behavior.StatefulSetHistoryUpdates).Until(behavior.DeclarativeErrors))
	}
	if len(fixed) > 0 || !validation.Equal(object.Map(obj, "spec")["revisionHistoryLimit"], old.At("spec", "revisionHistoryLimit")) {
		errs = append(errs, validation.Forbidden(spec, fmt.Sprintf(statefulSetUpdates, "")).Until(behavior.StatefulSetHistoryUpdates))
	}
	return append(errs, fixed.Since(behavior.DeclarativeErrors)...)
}

const statefulSetUpdates = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', %s'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

// statefulSetRules are the rules for a StatefulSet. exists omits the checks of
// serviceName and volumeClaimTemplates, which an update cannot change.
type statefulSetRules struct {
	exists    bool
	stored    validation.List // the errors of the stored spec, which omit the validation of the pod template
	recreates bool            // the stored object has the update strategy Recreate
}

func (r statefulSetRules) spec(p validation.View) {
	switch p.String("podManagementPolicy") {
	case "OrderedReady", "Parallel":
	case "":
		p.Required("podManagementPolicy", "")
	default:
		p.InvalidNamed("podManagementPolicy", "must be 'OrderedReady' or 'Parallel'")
	}
	r.updateStrategy(p.Field("updateStrategy"))
	if retention, ok := p.Lookup("persistentVolumeClaimRetentionPolicy"); ok {
		retention.OneOf("whenDeleted", "Retain", "Delete")
		retention.OneOf("whenScaled", "Retain", "Delete")
	}
	if !r.exists {
		for _, claim := range p.Each("volumeClaimTemplates") {
			spec := claim.Field("spec")
			p.AddList(validation.Collect(spec.Obj, spec.Path, volumes.CheckClaimSpec).Since(behavior.StatefulSetTemplates))
		}
	}
	p.NonNegative("replicas", "minReadySeconds")
	p.Field("ordinals").NonNegative("start")
	if !r.exists {
		if name := p.String("serviceName"); name != "" {
			p.AddList(validation.Each(p.At("serviceName"), name, validation.DNS1123Label(name)).Since(behavior.ValidatesServiceNames))
		}
	}
	pods.CheckRequiredSelector(p, "statefulset", "", func(template validation.View) {
		r.template(template, p.Obj["volumeClaimTemplates"])
	})
	pods.CheckAlwaysRestarts(p.Field("template").Field("spec"), "StatefulSet")
}

// template checks the pod template as the controller completes it: with a volume
// for each claim template, and without hostname and subdomain.
func (r statefulSetRules) template(p validation.View, claims any) {
	p.AddList(pods.ValidatePodTemplate(completedTemplate(p.Obj, claims), p.Path).Since(behavior.StatefulSetTemplates).Unless(r.stored))
	annotations := object.Map(p.Obj, "metadata", "annotations")
	p.AddList(validation.Labels(object.Map(p.Obj, "metadata", "labels"), p.At("labels")))
	p.AddList(validation.Annotations(annotations, p.At("annotations")))
	pods.CheckPodAnnotations(validation.View{Obj: annotations, Path: p.At("annotations"), Errs: p.Errs}, p.Field("spec"))
}

func completedTemplate(template map[string]any, claims any) map[string]any {
	template = maps.Clone(template)
	spec := maps.Clone(object.Map(template, "spec"))
	if spec == nil {
		return template
	}
	delete(spec, "hostname")
	delete(spec, "subdomain")
	var volumes []any
	claimed := map[string]bool{}
	for claim := range object.Each(claims) {
		name := object.String(claim, "metadata", "name")
		if !claimed[name] {
			volumes = append(volumes, map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": name}})
		}
		claimed[name] = true
	}
	if len(claimed) > 0 {
		for volume := range object.Each(spec["volumes"]) {
			if !claimed[object.String(volume, "name")] {
				volumes = append(volumes, volume)
			}
		}
		spec["volumes"] = volumes
	}
	template["spec"] = spec
	return template
}

// updateStrategy checks the update strategy. A StatefulSet that has Recreate may keep it without
// the feature gate.
func (r statefulSetRules) updateStrategy(p validation.View) {
	const gate = "StatefulSetRecreateStrategy"
	rolling, given := p.Lookup("rollingUpdate")
	const known, all = "'RollingUpdate' or 'OnDelete'", "'RollingUpdate', 'OnDelete', or 'Recreate'"
	invalid := func(types string) *validation.Error {
		return validation.Invalid(p.Path, validation.AsGoType("apps.StatefulSetUpdateStrategy", p.Obj), "must be "+types)
	}
	notRolling := func() validation.List {
		if !given {
			return nil
		}
		return validation.List{validation.Invalid(rolling.Path, validation.AsGoType("apps.RollingUpdateStatefulSetStrategy", rolling.Obj), "only allowed for updateStrategy 'RollingUpdate'")}
	}
	switch typ := p.String("type"); {
	case typ == "":
		p.Add(validation.Required(p.Path, ""))
	case typ == "OnDelete", typ == "Recreate" && r.recreates:
		p.AddList(notRolling())
	case typ == "Recreate":
		p.AddList(notRolling().WithGate(gate))
		p.Add(invalid(known).WithoutGate(gate))
	case typ == "RollingUpdate":
		if !given {
			return
		}
		rolling.NonNegative("partition")
		if rolling.Has("maxUnavailable") {
			rolling.IntOrPercent("maxUnavailable")
			if isZeroNumberOrPercent(rolling, "maxUnavailable") {
				rolling.Add(validation.Invalid(rolling.At("maxUnavailable"), validation.AsGoType("o", rolling.Obj["maxUnavailable"]), "cannot be 0"))
			}
			rolling.PercentUpTo100("maxUnavailable")
		}
	case r.recreates:
		p.Add(invalid(all))
	default:
		p.Add(invalid(all).WithGate(gate, invalid(known)))
	}
}

func warnStatefulSet(r validation.Release, obj map[string]any, old object.View) []string {
	warnings := pods.WarnWorkloadTemplate(r, obj, old)
	for _, claim := range (validation.View{Obj: object.Map(obj, "spec"), Path: validation.NewPath("spec")}).Each("volumeClaimTemplates") {
		spec := validation.View{Obj: object.Map(claim.Obj, "spec"), Path: claim.Path}
		if !old.IsNil() {
			spec.Path = claim.At("Spec")
		}
		warnings = append(warnings, volumes.WarnClaimSpec(spec)...)
	}
	if limit, _ := object.Int(obj, "spec", "revisionHistoryLimit"); limit < 0 {
		warnings = append(warnings, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return warnings
}

var statefulSetCounters = pods.StatusCounters{
	NonNegative:     []string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"},
	WithinReplicas:  []string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
	AvailableDetail: "cannot be greater than status.readyReplicas",
}

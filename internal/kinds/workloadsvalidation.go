package kinds

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateControllerRevision(obj, old map[string]any) validation.List {
	errs := mistakes(obj, nil, func(p part) { p.notNegative("revision") })
	path := validation.NewPath("data")
	if old != nil {
		return append(errs, validation.ImmutableField(obj["data"], old["data"], path)...)
	}
	switch obj["data"].(type) {
	case map[string]any:
	case nil:
		errs = append(errs, validation.Required(path, "data is mandatory"))
	default:
		errs = append(errs, validation.Required(path, "data must be a valid JSON object"))
	}
	return errs
}

// shownSelector is the label selector at a member as messages print it.
func (p part) shownSelector() unversioned.Value {
	return internal("*metav1.LabelSelector", p.obj["selector"])
}

// share checks a number that is not negative, or a percentage of at most 100.
func (p part) share(name string) {
	p.numberOrPercent(name)
	p.atMostAll(name)
}

// numberOrPercent checks a number that is not negative, or any percentage.
func (p part) numberOrPercent(name string) {
	switch v := p.obj[name].(type) {
	case int64:
		p.notNegative(name)
	case string:
		if messages := validation.Percent(v); len(messages) > 0 {
			p.add(validation.Each(p.at(name), validation.NamedString(v), messages))
		}
	}
}

// atMostAll checks that a percentage is none above 100.
func (p part) atMostAll(name string) {
	if n, ok := percentOf(p.obj[name]); ok && n > 100 {
		p.invalidEnum(name, "must not be greater than 100%")
	}
}

// percentOf is the number before the percent sign.
func percentOf(v any) (int, bool) {
	s, ok := v.(string)
	if !ok || len(validation.Percent(s)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%")) // the largest number if it is too large
	return n, true
}

func validateDeployment(obj, old map[string]any) validation.List {
	errs := mistakes(object.Map(obj, "spec"), specPath, deploymentSpec)
	return append(errs, selectorKept(obj, old)...)
}

func deploymentSpec(p part) {
	p.notNegative("replicas")
	neededSelector(p, "deployment", "invalid label selector", replicaTemplate)
	deploymentStrategy(p.within("strategy"))
	p.notNegative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
	if p.has("progressDeadlineSeconds") && p.integer("progressDeadlineSeconds") <= p.integer("minReadySeconds") {
		p.invalid("progressDeadlineSeconds", "must be greater than minReadySeconds")
	}
}

func validateReplicaSet(obj, old map[string]any) validation.List {
	errs := mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		p.notNegative("replicas", "minReadySeconds")
		neededSelector(p, "deployment", "invalid label selector", replicaTemplate)
	})
	return append(errs, selectorKept(obj, old)...)
}

// selectorKept checks that an update leaves the label selector alone.
func selectorKept(obj, old map[string]any) validation.List {
	if old == nil {
		return nil
	}
	return mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		p.immutable("selector", "*metav1.LabelSelector", object.Map(old, "spec"))
	})
}

// neededSelector checks the label selector of a workload, which must select
// something, and, if it is one, the template that it must select. senseless
// says that it is none.
func neededSelector(p part, kind, senseless string, template func(part)) {
	if !p.has("selector") {
		p.missing("selector", "")
	}
	p.labelSelector("selector", validation.LabelSelectorOptions{})
	notEmptySelector(p, kind)
	labels, err := selector.FromMap(object.Map(p.obj, "selector")).Selector()
	if err != nil {
		p.note(validation.Invalid(p.at("selector"), p.shownSelector(), senseless))
		return
	}
	selected(p, labels)
	template(p.within("template"))
}

// notEmptySelector checks that a selector does not select everything.
func notEmptySelector(p part, kind string) {
	if s, ok := p.given("selector"); ok && s.size("matchLabels")+s.size("matchExpressions") == 0 {
		p.note(validation.Invalid(s.path, p.shownSelector(), "empty selector is invalid for "+kind))
	}
}

// selected checks that a workload's selector selects the pods that its template
// makes.
func selected(p part, labels selector.Labels) {
	meta := p.within("template").within("metadata")
	if !labels.Matches(labelSet(object.Map(meta.obj, "labels"))) {
		meta.invalid("labels", notSelected)
	}
}

// labelSet are the labels of an object, to be selected by.
type labelSet map[string]any

// Lookup implements [selector.LabelSet].
func (l labelSet) Lookup(key string) (string, bool) {
	value, ok := l[key].(string)
	return value, ok
}

const notSelected = "`selector` does not match template `labels`"

// podTemplateOf checks the template of a workload whose pods run on: kind is
// what messages call it.
func podTemplateOf(kind string) func(part) {
	return func(template part) {
		template.add(validatePodTemplate(template.obj, template.path))
		runsOn(template.within("spec"), kind)
	}
}

// runsOn checks that pods are started again when they end.
func runsOn(spec part, kind string) {
	spec.oneOf("restartPolicy", "Always")
	if spec.has("activeDeadlineSeconds") {
		spec.forbid("activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// replicaTemplate is the rule of Deployments' templates too.
var replicaTemplate = podTemplateOf("ReplicaSet")

func deploymentStrategy(p part) {
	switch p.text("type") {
	case "Recreate":
		if p.has("rollingUpdate") {
			p.forbid("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		rolling := p.within("rollingUpdate")
		rolling.numberOrPercent("maxUnavailable")
		rolling.numberOrPercent("maxSurge")
		if rolling.isNone("maxUnavailable") && rolling.isNone("maxSurge") {
			rolling.note(validation.Invalid(rolling.at("maxUnavailable"), internal("o", rolling.obj["maxUnavailable"]), "may not be 0 when `maxSurge` is 0"))
		}
		rolling.atMostAll("maxUnavailable")
	default:
		p.note(validation.NotSupported(p.path, internal("apps.DeploymentStrategy", p.obj), []string{"Recreate", "RollingUpdate"}))
	}
}

// isNone reports whether a number or percentage is 0, or none at all.
func (p part) isNone(name string) bool {
	if n, ok := percentOf(p.obj[name]); ok {
		return n == 0
	}
	s, ok := p.obj[name].(string)
	if !ok {
		return p.integer(name) == 0
	}
	n, _ := strconv.Atoi(s)
	return n == 0
}

func validateDaemonSet(obj, old map[string]any) validation.List {
	selectors := validation.LabelSelectorOptions{InvalidValues: brokenSelector(old, "spec", "selector")}
	return append(selectorKept(obj, old), mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		p.labelSelector("selector", selectors)
		if labels, err := selector.FromMap(object.Map(p.obj, "selector")).Selector(); err == nil {
			selected(p, labels)
		}
		notEmptySelector(p, "daemonset")
		podTemplateOf("DaemonSet")(p.within("template"))
		p.notNegative("minReadySeconds")
		daemonStrategy(p.within("updateStrategy"))
		p.notNegative("revisionHistoryLimit")
	})...)
}

func daemonStrategy(p part) {
	switch p.text("type") {
	case "OnDelete":
	case "RollingUpdate":
		rolling := p.within("rollingUpdate")
		for _, check := range []func(string){rolling.numberOrPercent, rolling.atMostAll} {
			check("maxUnavailable")
			check("maxSurge")
		}
		switch unavailable, surge := !rolling.isNone("maxUnavailable"), !rolling.isNone("maxSurge"); {
		case unavailable && surge:
			rolling.note(validation.Invalid(rolling.at("maxSurge"), internal("o", rolling.obj["maxSurge"]), "may not be set when maxUnavailable is non-zero"))
		case !unavailable && !surge:
			rolling.missing("maxUnavailable", "cannot be 0 when maxSurge is 0")
		}
	default:
		p.note(validation.NotSupported(p.path, internal("apps.DaemonSetUpdateStrategy", p.obj), []string{"RollingUpdate", "OnDelete"}))
	}
}

func validateStatefulSet(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(object.Map(obj, "spec"), specPath, statefulSetRules{}.spec)
	}
	rules := statefulSetRules{exists: true}
	// What was stored with a template that is wrong today may keep it.
	rules.anyTemplate = len(mistakes(object.Map(old, "spec"), nil, rules.spec)) > 0
	errs := mistakes(object.Map(obj, "spec"), specPath, rules.spec)
	for _, name := range []string{"serviceName", "selector", "volumeClaimTemplates", "podManagementPolicy"} {
		if !validation.Equal(object.Value(obj, "spec", name), object.Value(old, "spec", name)) {
			return append(errs, validation.Forbidden(specPath, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
		}
	}
	return errs
}

// statefulSetRules are relaxed for a set that exists: its name of a service and
// its templates of claims cannot change, and were right once.
type statefulSetRules struct{ exists, anyTemplate bool }

func (r statefulSetRules) spec(p part) {
	switch p.text("podManagementPolicy") {
	case "OrderedReady", "Parallel":
	case "":
		p.missing("podManagementPolicy", "")
	default:
		p.invalidEnum("podManagementPolicy", "must be 'OrderedReady' or 'Parallel'")
	}
	statefulStrategy(p.within("updateStrategy"))
	if retention, ok := p.given("persistentVolumeClaimRetentionPolicy"); ok {
		retention.oneOf("whenDeleted", "Retain", "Delete")
		retention.oneOf("whenScaled", "Retain", "Delete")
	}
	if !r.exists {
		for _, claim := range p.each("volumeClaimTemplates") {
			claimSpec(claim.within("spec"))
		}
	}
	p.notNegative("replicas", "minReadySeconds")
	p.within("ordinals").notNegative("start")
	if !r.exists {
		p.ifSet("serviceName", validation.DNS1123Label)
	}
	neededSelector(p, "statefulset", "", func(template part) {
		r.template(template, p.obj["volumeClaimTemplates"])
	})
	runsOn(p.within("template").within("spec"), "StatefulSet")
}

// template checks the template of a set as its controller completes it: with
// volumes for the claims, and without the names that each pod has of its own.
func (r statefulSetRules) template(p part, claims any) {
	if !r.anyTemplate {
		p.add(validatePodTemplate(completedTemplate(p.obj, claims), p.path))
	}
	annotations := object.Map(p.obj, "metadata", "annotations")
	p.add(validation.Labels(object.Map(p.obj, "metadata", "labels"), p.at("labels")))
	p.add(validation.Annotations(annotations, p.at("annotations")))
	podAnnotations(part{annotations, p.at("annotations"), p.errs}, p.within("spec"))
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

func statefulStrategy(p part) {
	rolling, given := p.given("rollingUpdate")
	switch p.text("type") {
	case "":
		p.note(validation.Required(p.path, ""))
	case "OnDelete":
		if given {
			p.note(validation.Invalid(rolling.path, internal("apps.RollingUpdateStatefulSetStrategy", rolling.obj), "only allowed for updateStrategy 'RollingUpdate'"))
		}
	case "RollingUpdate":
		if !given {
			return
		}
		rolling.notNegative("partition")
		if rolling.has("maxUnavailable") {
			rolling.numberOrPercent("maxUnavailable")
			if rolling.isNone("maxUnavailable") {
				rolling.note(validation.Invalid(rolling.at("maxUnavailable"), internal("o", rolling.obj["maxUnavailable"]), "cannot be 0"))
			}
			rolling.atMostAll("maxUnavailable")
		}
	default:
		p.note(validation.Invalid(p.path, internal("apps.StatefulSetUpdateStrategy", p.obj), "must be 'RollingUpdate' or 'OnDelete'"))
	}
}

func validateReplicationController(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		p.notNegative("minReadySeconds")
		p.needs("selector")
		p.notNegative("replicas")
		template, ok := p.given("template")
		if !ok {
			p.missing("template", "")
			return
		}
		meta := template.within("metadata")
		labels := object.Map(meta.obj, "labels")
		for name, value := range object.Map(p.obj, "selector") {
			if own, ok := labels[name]; !ok || own != value {
				meta.invalid("labels", notSelected)
				break
			}
		}
		podTemplateOf("ReplicationController")(template)
	})
}

// A countersRule says of the numbers in the status of a workload which are not
// negative, and which are not more than others.
type countersRule struct {
	names     []string
	within    []string // replicas
	available string   // what is said of more available replicas than ready ones
}

var (
	deploymentCounters = countersRule{
		names:     []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"},
		within:    []string{"updatedReplicas", "readyReplicas", "availableReplicas"},
		available: "cannot be greater than readyReplicas",
	}
	replicaSetCounters = countersRule{
		names:     []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
		within:    []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
		available: "cannot be greater than readyReplicas",
	}
	statefulSetCounters = countersRule{
		names:     []string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"},
		within:    []string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
		available: "cannot be greater than status.readyReplicas",
	}
	daemonSetCounters = countersRule{names: []string{
		"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
	}}
)

// validate checks the status of a workload: an update of it.
func (c countersRule) validate(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), statusPath, func(p part) {
		p.notNegative(c.names...)
		for _, name := range c.within {
			if n := p.integer(name); n > p.integer("replicas") {
				p.note(validation.Invalid(p.at(name), n, "cannot be greater than status.replicas"))
			}
		}
		if n := p.integer("availableReplicas"); c.available != "" && n > p.integer("readyReplicas") {
			p.note(validation.Invalid(p.at("availableReplicas"), n, c.available))
		}
		collisions, ok := object.Int(p.obj, "collisionCount")
		if before, had := object.Int(old, "status", "collisionCount"); had && (!ok || collisions < before) {
			p.note(validation.Invalid(p.at("collisionCount"), collisions, "cannot be decremented"))
		}
	})
}

// warnOfPodNames tells of a new workload whose name its pods cannot have for a
// host name.
func warnOfPodNames(obj, old map[string]any) []string {
	messages := validation.DNS1123Label(object.String(obj, "metadata", "name"))
	if old != nil || len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", messages)}
}

// warnWorkload tells of a workload's name, and of its template unless that is as
// it was.
func warnWorkload(obj, old map[string]any) []string {
	return append(warnOfPodNames(obj, old), warnOfTemplate(obj, old)...)
}

func warnOfTemplate(obj, old map[string]any) []string {
	if old != nil && sameGeneration(obj, old) {
		return nil
	}
	return warnPodTemplate(object.Map(obj, "spec", "template"), specPath.Child("template"))
}

// sameGeneration reports whether a write changed nothing that counts.
func sameGeneration(obj, old map[string]any) bool {
	return object.Value(obj, "metadata", "generation") == object.Value(old, "metadata", "generation")
}

func warnDaemonSet(obj, old map[string]any) []string {
	if old != nil && templateGenerationOf(obj) == templateGenerationOf(old) {
		return nil
	}
	return warnPodTemplate(object.Map(obj, "spec", "template"), specPath.Child("template"))
}

// warnReplicationController tells on an update of the template that there was,
// as kube-apiserver does.
func warnReplicationController(obj, old map[string]any) []string {
	if old != nil && !sameGeneration(obj, old) {
		return warnPodTemplate(object.Map(old, "spec", "template"), specPath.Child("template"))
	}
	return warnWorkload(obj, old)
}

func warnStatefulSet(obj, old map[string]any) []string {
	warnings := warnOfTemplate(obj, old)
	for _, claim := range (part{obj: object.Map(obj, "spec"), path: specPath}).each("volumeClaimTemplates") {
		spec := part{obj: object.Map(claim.obj, "spec"), path: claim.path}
		if old != nil {
			spec.path = claim.at("Spec")
		}
		warnings = append(warnings, warnClaimSpec(spec)...)
	}
	if limit, _ := object.Int(obj, "spec", "revisionHistoryLimit"); limit < 0 {
		warnings = append(warnings, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return warnings
}

package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of Jobs.
const (
	indexedMostParallel      = 100_000
	indexedMostFailed        = 100_000
	highCompletions          = 100_000 // from here on the next two limits hold
	highCompletionsParallel  = 10_000
	highCompletionsFailed    = 10_000
	failureRulesMaxItems     = 20
	exitCodesMaxItems        = 255
	podConditionsMaxItems    = 20
	successRulesMaxItems     = 20
	succeededIndexesMaxBytes = 64 << 10
	managedByMaxLength       = 63
)

func validateJob(obj, old map[string]any) validation.List {
	selectors := validation.LabelSelectorOptions{InvalidValues: brokenSelector(old, "spec", "selector")}
	errs := generatedSelector(obj, old)
	spec := func(p part) { wholeJobSpec(p, selectors) }
	errs = append(errs, mistakes(object.Map(obj, "spec"), specPath, spec)...)
	errs = append(errs, indexedHostNames(obj)...)
	if old == nil {
		return errs
	}
	return append(errs, mistakes(object.Map(obj, "spec"), specPath, spec, func(p part) { jobSpecUpdate(p, old) })...)
}

// generatedSelector checks that a Job which selects its pods by itself has the
// labels that it would have given them.
func generatedSelector(job, old map[string]any) validation.List {
	if object.Bool(job, "spec", "manualSelector") || object.Map(job, "spec", "selector") == nil {
		return nil
	}
	name, uid := object.String(job, "metadata", "name"), object.String(job, "metadata", "uid")
	expected := []struct{ label, value string }{{controllerUIDBefore, uid}, {jobNameBefore, name}, {controllerUID, uid}, {jobName, name}}
	was := object.Map(old, "spec", "template", "metadata", "labels")
	if old != nil && (was[jobName] == nil || was[controllerUID] == nil) {
		expected = expected[:2]
	}
	var errs validation.List
	labels := object.Map(job, "spec", "template", "metadata", "labels")
	path := validation.NewPath("spec", "template", "metadata", "labels")
	generated := labelSet{}
	for _, e := range expected {
		generated[e.label] = e.value
		switch own, ok := labels[e.label]; {
		case !ok:
			errs = append(errs, validation.Required(path.Key(e.label), "must be '"+e.value+"'"))
		case own != e.value:
			errs = append(errs, validation.Invalid(path.Key(e.label), labels, "must be '"+e.value+"'"))
		}
	}
	if s, err := selector.FromMap(object.Map(job, "spec", "selector")).Selector(); err == nil && !s.Matches(generated) {
		errs = append(errs, validation.Invalid(specPath.Child("selector"), part{obj: object.Map(job, "spec")}.shownSelector(), "`selector` not auto-generated"))
	}
	return errs
}

// indexedHostNames checks that the pods of an indexed Job can be called by their
// index.
func indexedHostNames(job map[string]any) validation.List {
	completions, _ := object.Int(job, "spec", "completions")
	if object.String(job, "spec", "completionMode") != "Indexed" || completions <= 0 {
		return nil
	}
	name := object.String(job, "metadata", "name")
	last := fmt.Sprintf("%s-%d", name, completions-1)
	if len(validation.DNS1123Label(last)) == 0 {
		return nil
	}
	return validation.List{validation.Invalid(metadataNamePath, name, "will not able to create pod with invalid DNS label: "+last)}
}

func wholeJobSpec(p part, selectors validation.LabelSelectorOptions) {
	jobSpec(p)
	if !p.has("selector") {
		p.missing("selector", "")
	}
	p.labelSelector("selector", selectors)
	if labels, err := selector.FromMap(object.Map(p.obj, "selector")).Selector(); err == nil {
		selected(p, labels)
	}
}

// jobSpec checks what Jobs and their templates share.
func jobSpec(p part) {
	p.notNegative("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes")
	if p.has("maxFailedIndexes") && !p.has("backoffLimitPerIndex") {
		p.missing("backoffLimitPerIndex", "when maxFailedIndexes is specified")
	}
	if p.has("managedBy") {
		p.add(validation.DomainPrefixedPath(p.text("managedBy"), p.at("managedBy")))
		if len(p.text("managedBy")) > managedByMaxLength {
			p.note(validation.TooLong(p.at("managedBy"), managedByMaxLength))
		}
	}
	p.ifOneOf("completionMode", "NonIndexed", "Indexed")
	switch mode := p.text("completionMode"); {
	case mode == "Indexed":
		indexedJob(p)
	case mode == "NonIndexed", !p.has("completionMode"):
		for _, name := range []string{"backoffLimitPerIndex", "maxFailedIndexes"} {
			if p.has(name) {
				p.invalid(name, needsIndexes)
			}
		}
	}
	if policy, ok := p.given("podFailurePolicy"); ok {
		podFailurePolicy(policy, p)
	}
	if policy, ok := p.given("successPolicy"); ok {
		successPolicy(policy, p)
	}
	podReplacementPolicy(p)
	p.add(validatePodTemplate(object.Map(p.obj, "template"), p.at("template")))
	jobRestartPolicy(p.within("template").within("spec"), p.has("podFailurePolicy"))
}

const needsIndexes = "requires indexed completion mode"

func indexedJob(p part) {
	if !p.has("completions") {
		p.missing("completions", "when completion mode is Indexed")
	}
	p.atMost("parallelism", indexedMostParallel, " when completion mode is Indexed")
	completions, failed := p.integer("completions"), p.integer("maxFailedIndexes")
	if p.has("completions") && p.has("maxFailedIndexes") && failed > completions {
		p.invalid("maxFailedIndexes", "must be less than or equal to completions")
	}
	p.atMost("maxFailedIndexes", indexedMostFailed, "")
	if completions <= highCompletions || !p.has("backoffLimitPerIndex") {
		return
	}
	if !p.has("maxFailedIndexes") {
		p.missing("maxFailedIndexes", fmt.Sprintf("must be specified when completions is above %d", highCompletions))
	}
	when := fmt.Sprintf(" when completions are above %d and used with backoff limit per index", highCompletions)
	p.atMost("parallelism", highCompletionsParallel, when)
	p.atMost("maxFailedIndexes", highCompletionsFailed, when)
}

// atMost checks that a number is not above a limit, which messages say holds
// when.
func (p part) atMost(name string, limit int64, when string) {
	if p.has(name) && p.integer(name) > limit {
		p.invalid(name, fmt.Sprintf("must be less than or equal to %d", limit)+when)
	}
}

func jobRestartPolicy(p part, failurePolicy bool) {
	switch policy := p.text("restartPolicy"); {
	case policy == "Always", policy == "":
		p.missing("restartPolicy", `valid values: "OnFailure", "Never"`)
	case !p.oneOf("restartPolicy", "OnFailure", "Never"):
	case failurePolicy && policy != "Never":
		p.invalidEnum("restartPolicy", `only "Never" is supported when podFailurePolicy is specified`)
	}
}

func podReplacementPolicy(p part) {
	if p.has("podFailurePolicy") {
		p.ifOneOf("podReplacementPolicy", "Failed")
		return
	}
	p.ifOneOf("podReplacementPolicy", "Failed", "TerminatingOrFailed")
}

func podFailurePolicy(p, job part) {
	p.tooMany("rules", failureRulesMaxItems)
	containers := containerNames(object.Map(job.obj, "template", "spec"))
	for _, rule := range p.each("rules") {
		podFailureRule(rule, job.has("backoffLimitPerIndex"), containers)
	}
}

// containerNames are the names of a pod's containers.
func containerNames(spec map[string]any) []string {
	var out []string
	for _, list := range []string{"containers", "initContainers"} {
		for c := range object.Each(spec[list]) {
			out = append(out, object.String(c, "name"))
		}
	}
	return out
}

// tooMany checks that a list has no more than so many items.
func (p part) tooMany(name string, limit int) {
	if n := p.size(name); n > limit {
		p.note(validation.TooMany(p.at(name), n, limit))
	}
}

// listedOneOf is needsOneOf which says of a missing value what there is to
// choose from.
func (p part) listedOneOf(name string, values ...string) {
	if p.text(name) == "" {
		p.missing(name, fmt.Sprintf("valid values: %q", values))
		return
	}
	p.oneOf(name, values...)
}

func podFailureRule(p part, limitedPerIndex bool, containers []string) {
	p.listedOneOf("action", "Count", "FailIndex", "FailJob", "Ignore")
	if p.text("action") == "FailIndex" && !limitedPerIndex {
		p.invalidEnum("action", "requires the backoffLimitPerIndex to be set")
	}
	codes, onCodes := p.given("onExitCodes")
	if onCodes {
		exitCodes(codes, containers)
	}
	p.tooMany("onPodConditions", podConditionsMaxItems)
	for _, pattern := range p.each("onPodConditions") {
		pattern.is("type", validation.QualifiedName)
		pattern.listedOneOf("status", "False", "True", "Unknown")
	}
	switch onConditions := p.size("onPodConditions") > 0; {
	case onCodes && onConditions:
		p.note(validation.Inconsistent(p.path, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case !onCodes && !onConditions:
		p.note(validation.Inconsistent(p.path, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
}

func exitCodes(p part, containers []string) {
	p.listedOneOf("operator", "In", "NotIn")
	if p.has("containerName") && !slices.Contains(containers, p.text("containerName")) {
		p.invalid("containerName", "must be one of the container or initContainer names in the pod template")
	}
	codes := object.List(p.obj, "values")
	if len(codes) == 0 {
		p.invalid("values", "at least one value is required")
	}
	p.tooMany("values", exitCodesMaxItems)
	path := p.at("values")
	last, ordered := int64(0), true
	for i, v := range codes {
		code, _ := v.(int64)
		if code == 0 && p.text("operator") == "In" {
			p.note(validation.Invalid(path.Index(i), code, "must not be 0 for the In operator"))
		}
		if slices.Contains(codes[:i], v) {
			p.note(validation.Duplicate(path.Index(i), code))
		}
		ordered = ordered && (i == 0 || last <= code)
		last = code
	}
	if !ordered {
		p.invalid("values", "must be ordered")
	}
}

func successPolicy(p, job part) {
	if job.text("completionMode") != "Indexed" {
		p.note(validation.Invalid(p.path, internal("batch.SuccessPolicy", p.obj), needsIndexes))
		return
	}
	if p.size("rules") == 0 {
		p.missing("rules", "at least one rules must be specified when the successPolicy is specified")
	}
	p.tooMany("rules", successRulesMaxItems)
	for _, rule := range p.each("rules") {
		successRule(rule, job.integer("completions"))
	}
}

func successRule(p part, completions int64) {
	if !p.has("succeededCount") && !p.has("succeededIndexes") {
		p.note(validation.Required(p.path, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	indexes, err := parseIndexes(p.text("succeededIndexes"), completions)
	if len(p.text("succeededIndexes")) > succeededIndexesMaxBytes {
		p.note(validation.TooLong(p.at("succeededIndexes"), succeededIndexesMaxBytes))
	}
	if err != nil {
		p.invalid("succeededIndexes", "error parsing succeededIndexes: "+err.Error())
		indexes = nil
	}
	p.notNegative("succeededCount")
	p.atMost("succeededCount", completions, " (the number of specified completions)")
	if p.has("succeededIndexes") {
		p.atMost("succeededCount", indexes.total(), " (the number of indexes in the specified succeededIndexes field)")
	}
}

// jobSpecUpdate checks what an update may change.
func jobSpecUpdate(p part, old map[string]any) {
	was := part{obj: object.Map(old, "spec")}
	indexed := p.text("completionMode") == "Indexed"
	switch {
	case !indexed:
		p.unchanged(was.obj, "completions")
	case p.has("completions") && p.obj["completions"] != was.obj["completions"] && p.integer("completions") != p.integer("parallelism"):
		p.invalid("completions", "can only be modified in tandem with spec.parallelism")
	}
	p.immutable("selector", "*metav1.LabelSelector", was.obj)
	jobTemplateUpdate(p, old)
	if p.text("completionMode") != was.text("completionMode") {
		p.invalidEnum("completionMode", "field is immutable")
	}
	p.immutable("podFailurePolicy", "*batch.PodFailurePolicy", was.obj)
	p.unchanged(was.obj, "backoffLimitPerIndex", "managedBy")
	p.immutable("successPolicy", "*batch.SuccessPolicy", was.obj)
}

// jobTemplateUpdate lets the template of a suspended Job that has no pods
// change where the pods are to run and what they may use.
func jobTemplateUpdate(p part, old map[string]any) {
	template, was := object.Map(p.obj, "template"), object.Map(old, "spec", "template")
	if !idle(old) {
		if !validation.Equal(template, was) {
			p.note(validation.Invalid(p.at("template"), internal("core.PodTemplateSpec", template), "field is immutable"))
		}
		return
	}
	spec, oldSpec := object.Map(template, "spec"), maps.Clone(object.Map(was, "spec"))
	if oldSpec == nil {
		return
	}
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		object.Keep(oldSpec, spec, name)
	}
	keepNodeAffinity(oldSpec, spec)
	for _, list := range []string{"containers", "initContainers"} {
		keepResources(oldSpec, spec, list)
	}
	if !validation.Equal(spec, oldSpec) {
		p.note(validation.Invalid(p.at("template.spec"), internal("core.PodSpec", spec), "field is immutable"))
	}
}

// idle reports whether a Job is suspended and has no pods: because it never
// started, or because they are gone.
func idle(job map[string]any) bool {
	active, _ := object.Int(job, "status", "active")
	return object.Bool(job, "spec", "suspend") && active == 0 &&
		(object.Value(job, "status", "startTime") == nil || object.Condition(job, "Suspended", "True") != nil)
}

// keepNodeAffinity gives dst the affinity to nodes of src, and no other.
func keepNodeAffinity(dst, src map[string]any) {
	affinity := maps.Clone(object.Map(dst, "affinity"))
	if affinity == nil {
		affinity = map[string]any{}
	}
	object.Keep(affinity, object.Map(src, "affinity"), "nodeAffinity")
	if len(affinity) == 0 && src["affinity"] == nil {
		delete(dst, "affinity")
		return
	}
	dst["affinity"] = affinity
}

// keepResources gives the containers of dst the resources that those of src
// have, as long as they are the same ones.
func keepResources(dst, src map[string]any, list string) {
	was, now := object.List(dst, list), object.List(src, list)
	if len(was) != len(now) {
		return
	}
	kept := make([]any, len(was))
	for i := range was {
		container, _ := was[i].(map[string]any)
		next, _ := now[i].(map[string]any)
		if container["name"] == next["name"] {
			container = maps.Clone(container)
			object.Keep(container, next, "resources")
		}
		kept[i] = container
	}
	if len(kept) > 0 {
		dst[list] = kept
	}
}

// cronJobNameMaxLength leaves room for what the names of the jobs add.
const cronJobNameMaxLength = 52

func validateCronJob(obj, old map[string]any) validation.List {
	errs := mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		was := part{obj: object.Map(old, "spec")}
		if p.needs("schedule") {
			cronSchedule(p, strings.Contains(was.text("schedule"), "TZ"))
		}
		p.notNegative("startingDeadlineSeconds")
		if p.has("timeZone") && (old == nil || p.obj["timeZone"] != was.obj["timeZone"]) {
			p.is("timeZone", timeZoneMistakes)
		}
		p.needsOneOf("concurrencyPolicy", "Allow", "Forbid", "Replace")
		job := p.within("jobTemplate").within("spec")
		jobSpec(job)
		if job.has("selector") {
			job.note(validation.Invalid(job.at("selector"), job.shownSelector(), "`selector` will be auto-generated"))
		}
		if job.flag("manualSelector") {
			job.note(validation.NotSupported(job.at("manualSelector"), true, []string{"nil", "false"}))
		}
		p.notNegative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	})
	if name := object.String(obj, "metadata", "name"); old == nil && len(name) > cronJobNameMaxLength {
		errs = append(errs, validation.Invalid(metadataNamePath, name, validation.MaxLengthMessage(cronJobNameMaxLength)))
	}
	return errs
}

// cronSchedule checks a schedule, which has no time zone of its own unless the
// CronJob's had one before.
func cronSchedule(p part, zoned bool) {
	schedule := p.text("schedule")
	if err := checkSchedule(schedule); err != nil {
		p.invalid("schedule", err.Error())
	}
	switch hasZone := strings.Contains(schedule, "TZ"); {
	case hasZone && !zoned:
		p.invalid("schedule", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case hasZone && p.has("timeZone"):
		p.invalid("schedule", "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

func warnCronJob(obj, old map[string]any) []string {
	warnings := warnOfPodNames(obj, old)
	warnings = append(warnings, warnOfJobSpec(obj, old, "spec", "jobTemplate", "spec")...)
	if old != nil && strings.Contains(object.String(obj, "spec", "schedule"), "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}

func warnJob(obj, old map[string]any) []string {
	return append(warnOfPodNames(obj, old), warnOfJobSpec(obj, old, "spec")...)
}

// warnOfJobSpec tells of a Job's specification at a path, unless it is as it
// was.
func warnOfJobSpec(obj, old map[string]any, path ...string) []string {
	if old != nil && sameGeneration(obj, old) {
		return nil
	}
	p := part{obj: object.Map(obj, path...), path: validation.NewPath(path[0], path[1:]...)}
	var warnings []string
	if p.text("completionMode") == "Indexed" && p.integer("completions") > highCompletions && p.integer("parallelism") > highCompletionsParallel {
		warnings = append(warnings, p.path.String()+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(warnings, warnPodTemplate(object.Map(p.obj, "template"), p.at("template"))...)
}

package batch

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/scheduling"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of Jobs.
const (
	indexedMostParallel      = 100_000
	indexedMostFailed        = 100_000
	highCompletions          = 100_000 // above it, the next two limits apply
	highCompletionsParallel  = 10_000
	highCompletionsFailed    = 10_000
	failureRulesMaxItems     = 20
	exitCodesMaxItems        = 255
	podConditionsMaxItems    = 20
	successRulesMaxItems     = 20
	succeededIndexesMaxBytes = 64 << 10
	managedByMaxLength       = 63
)

func validateJob(obj map[string]any, old object.View) validation.List {
	selectors := validation.LabelSelectorOptions{InvalidValues: validation.HasInvalidLabelSelector(old, "spec", "selector")}
	errs := validateGeneratedSelector(obj, old)
	spec := func(p validation.View) { checkWholeJobSpec(p, selectors) }
	errs = append(errs, validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), spec)...)
	errs = append(errs, validateIndexedHostNames(obj)...)
	if !old.IsNil() {
		errs = append(errs, validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), spec, func(p validation.View) { checkJobSpecUpdate(p, old) })...)
	}
	return append(errs, scheduling.ValidateJobScheduling(object.Map(obj, "spec"), old.At("spec"), validation.NewPath("spec"))...)
}

// validateGeneratedSelector checks that a Job without spec.manualSelector has the
// generated selector and pod labels.
func validateGeneratedSelector(job map[string]any, old object.View) validation.List {
	if object.Bool(job, "spec", "manualSelector") || object.Map(job, "spec", "selector") == nil {
		return nil
	}
	name, uid := object.String(job, "metadata", "name"), object.String(job, "metadata", "uid")
	expected := []struct{ label, value string }{{legacyControllerUID, uid}, {legacyJobName, name}, {controllerUID, uid}, {jobName, name}}
	was := old.At("spec", "template", "metadata", "labels")
	if !old.IsNil() && (was.IsNil(jobName) || was.IsNil(controllerUID)) {
		expected = expected[:2]
	}
	var errs validation.List
	labels := object.Map(job, "spec", "template", "metadata", "labels")
	path := validation.NewPath("spec", "template", "metadata", "labels")
	generated := pods.LabelSet{}
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
		errs = append(errs, validation.Invalid(validation.NewPath("spec").Child("selector"), pods.SelectorValue(validation.View{Obj: object.Map(job, "spec")}), "`selector` not auto-generated"))
	}
	return errs
}

// validateIndexedHostNames checks that the host names of the pods of an indexed Job,
// which end with the index, are valid.
func validateIndexedHostNames(job map[string]any) validation.List {
	completions, _ := object.Int(job, "spec", "completions")
	if object.String(job, "spec", "completionMode") != "Indexed" || completions <= 0 {
		return nil
	}
	name := object.String(job, "metadata", "name")
	last := fmt.Sprintf("%s-%d", name, completions-1)
	if len(validation.DNS1123Label(last)) == 0 {
		return nil
	}
	return validation.List{validation.Invalid(validation.NewPath("metadata", "name"), name, "will not able to create pod with invalid DNS label: "+last)}
}

func checkWholeJobSpec(p validation.View, selectors validation.LabelSelectorOptions) {
	checkJobSpec(p)
	if !p.Has("selector") {
		p.Required("selector", "")
	}
	p.LabelSelector("selector", selectors)
	if labels, err := selector.FromMap(object.Map(p.Obj, "selector")).Selector(); err == nil {
		pods.CheckSelectorMatches(p, labels)
	}
}

// checkJobSpec checks the spec of a Job or of a CronJob's template.
func checkJobSpec(p validation.View) {
	p.NonNegative("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes")
	if p.Has("maxFailedIndexes") && !p.Has("backoffLimitPerIndex") {
		p.Required("backoffLimitPerIndex", "when maxFailedIndexes is specified")
	}
	if p.Has("managedBy") {
		p.AddList(validation.DomainPrefixedPath(p.String("managedBy"), p.At("managedBy")))
		if len(p.String("managedBy")) > managedByMaxLength {
			p.Add(validation.TooLong(p.At("managedBy"), managedByMaxLength))
		}
	}
	p.OneOfIfSet("completionMode", "NonIndexed", "Indexed")
	switch mode := p.String("completionMode"); {
	case mode == "Indexed":
		checkIndexedJob(p)
	case mode == "NonIndexed", !p.Has("completionMode"):
		for _, name := range []string{"backoffLimitPerIndex", "maxFailedIndexes"} {
			if p.Has(name) {
				p.Invalid(name, needsIndexes)
			}
		}
	}
	if policy, ok := p.Lookup("podFailurePolicy"); ok {
		checkPodFailurePolicy(policy, p)
	}
	if policy, ok := p.Lookup("successPolicy"); ok {
		checkSuccessPolicy(policy, p)
	}
	checkPodReplacementPolicy(p)
	checkJobScheduling(p)
	p.AddList(pods.ValidatePodTemplate(object.Map(p.Obj, "template"), p.At("template")))
	checkJobRestartPolicy(p.Field("template").Field("spec"), p.Has("podFailurePolicy"))
}

const needsIndexes = "requires indexed completion mode"

func checkIndexedJob(p validation.View) {
	if !p.Has("completions") {
		p.Required("completions", "when completion mode is Indexed")
	}
	checkAtMost(p, "parallelism", indexedMostParallel, " when completion mode is Indexed")
	completions, failed := p.Int("completions"), p.Int("maxFailedIndexes")
	if p.Has("completions") && p.Has("maxFailedIndexes") && failed > completions {
		p.Invalid("maxFailedIndexes", "must be less than or equal to completions")
	}
	checkAtMost(p, "maxFailedIndexes", indexedMostFailed, "")
	if completions <= highCompletions || !p.Has("backoffLimitPerIndex") {
		return
	}
	if !p.Has("maxFailedIndexes") {
		p.Required("maxFailedIndexes", fmt.Sprintf("must be specified when completions is above %d", highCompletions))
	}
	when := fmt.Sprintf(" when completions are above %d and used with backoff limit per index", highCompletions)
	checkAtMost(p, "parallelism", highCompletionsParallel, when)
	checkAtMost(p, "maxFailedIndexes", highCompletionsFailed, when)
}

// checkAtMost checks that a number is not above a limit. when is the end of the error
// text.
func checkAtMost(p validation.View, name string, limit int64, when string) {
	if p.Has(name) && p.Int(name) > limit {
		p.Invalid(name, fmt.Sprintf("must be less than or equal to %d", limit)+when)
	}
}

func checkJobRestartPolicy(p validation.View, failurePolicy bool) {
	switch policy := p.String("restartPolicy"); {
	case policy == "Always", policy == "":
		p.Required("restartPolicy", `valid values: "OnFailure", "Never"`)
	case !p.OneOf("restartPolicy", "OnFailure", "Never"):
	case failurePolicy && policy != "Never":
		p.InvalidNamed("restartPolicy", `only "Never" is supported when podFailurePolicy is specified`)
	}
}

func checkPodReplacementPolicy(p validation.View) {
	if p.Has("podFailurePolicy") {
		p.OneOfIfSet("podReplacementPolicy", "Failed")
		return
	}
	p.OneOfIfSet("podReplacementPolicy", "Failed", "TerminatingOrFailed")
}

func checkPodFailurePolicy(p, job validation.View) {
	checkMaxItems(p, "rules", failureRulesMaxItems)
	containers := containerNames(object.Map(job.Obj, "template", "spec"))
	for _, rule := range p.Each("rules") {
		checkPodFailureRule(rule, job.Has("backoffLimitPerIndex"), containers)
	}
}

// containerNames returns the names of the containers and init containers of a pod.
func containerNames(spec map[string]any) []string {
	var out []string
	for _, list := range []string{"containers", "initContainers"} {
		for c := range object.Each(spec[list]) {
			out = append(out, object.String(c, "name"))
		}
	}
	return out
}

// checkMaxItems checks that a list has at most limit items.
func checkMaxItems(p validation.View, name string, limit int) {
	if n := p.Len(name); n > limit {
		p.Add(validation.TooMany(p.At(name), n, limit))
	}
}

// checkOneOf is View.RequireOneOf with an error for an absent value that lists the
// valid ones.
func checkOneOf(p validation.View, name string, values ...string) {
	if p.String(name) == "" {
		p.Required(name, fmt.Sprintf("valid values: %q", values))
		return
	}
	p.OneOf(name, values...)
}

func checkPodFailureRule(p validation.View, limitedPerIndex bool, containers []string) {
	checkOneOf(p, "action", "Count", "FailIndex", "FailJob", "Ignore")
	if p.String("action") == "FailIndex" && !limitedPerIndex {
		p.InvalidNamed("action", "requires the backoffLimitPerIndex to be set")
	}
	codes, onCodes := p.Lookup("onExitCodes")
	if onCodes {
		checkExitCodes(codes, containers)
	}
	checkMaxItems(p, "onPodConditions", podConditionsMaxItems)
	for _, pattern := range p.Each("onPodConditions") {
		pattern.Format("type", validation.QualifiedName)
		checkOneOf(pattern, "status", "False", "True", "Unknown")
	}
	switch onConditions := p.Len("onPodConditions") > 0; {
	case onCodes && onConditions:
		p.Add(validation.Inconsistent(p.Path, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case !onCodes && !onConditions:
		p.Add(validation.Inconsistent(p.Path, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
}

func checkExitCodes(p validation.View, containers []string) {
	checkOneOf(p, "operator", "In", "NotIn")
	if p.Has("containerName") && !slices.Contains(containers, p.String("containerName")) {
		p.Invalid("containerName", "must be one of the container or initContainer names in the pod template")
	}
	codes := object.List(p.Obj, "values")
	if len(codes) == 0 {
		p.Invalid("values", "at least one value is required")
	}
	checkMaxItems(p, "values", exitCodesMaxItems)
	path := p.At("values")
	last, ordered := int64(0), true
	for i, v := range codes {
		code, _ := v.(int64)
		if code == 0 && p.String("operator") == "In" {
			p.Add(validation.Invalid(path.Index(i), code, "must not be 0 for the In operator"))
		}
		if slices.Contains(codes[:i], v) {
			p.Add(validation.Duplicate(path.Index(i), code))
		}
		ordered = ordered && (i == 0 || last <= code)
		last = code
	}
	if !ordered {
		p.Invalid("values", "must be ordered")
	}
}

func checkSuccessPolicy(p, job validation.View) {
	if job.String("completionMode") != "Indexed" {
		p.Add(validation.Invalid(p.Path, validation.AsGoType("batch.SuccessPolicy", p.Obj), needsIndexes))
		return
	}
	if p.Len("rules") == 0 {
		p.Required("rules", "at least one rules must be specified when the successPolicy is specified")
	}
	checkMaxItems(p, "rules", successRulesMaxItems)
	for _, rule := range p.Each("rules") {
		checkSuccessRule(rule, job.Int("completions"))
	}
}

func checkSuccessRule(p validation.View, completions int64) {
	if !p.Has("succeededCount") && !p.Has("succeededIndexes") {
		p.Add(validation.Required(p.Path, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	indexes, err := parseIndexes(p.String("succeededIndexes"), completions)
	if len(p.String("succeededIndexes")) > succeededIndexesMaxBytes {
		p.Add(validation.TooLong(p.At("succeededIndexes"), succeededIndexesMaxBytes))
	}
	if err != nil {
		p.Invalid("succeededIndexes", "error parsing succeededIndexes: "+err.Error())
		indexes = nil
	}
	p.NonNegative("succeededCount")
	checkAtMost(p, "succeededCount", completions, " (the number of specified completions)")
	if p.Has("succeededIndexes") {
		checkAtMost(p, "succeededCount", indexes.total(), " (the number of indexes in the specified succeededIndexes field)")
	}
}

func warnJob(r validation.Release, obj map[string]any, old object.View) []string {
	return append(pods.WarnWorkloadName(obj, old), warnOfJobSpec(r, obj, old, "spec")...)
}

// warnOfJobSpec returns the warnings about the Job spec at a path if it changed.
func warnOfJobSpec(r validation.Release, obj map[string]any, old object.View, path ...string) []string {
	if !old.IsNil() && pods.SameGeneration(obj, old) {
		return nil
	}
	p := validation.View{Obj: object.Map(obj, path...), Path: validation.NewPath(path[0], path[1:]...)}
	var warnings []string
	if p.String("completionMode") == "Indexed" && p.Int("completions") > highCompletions && p.Int("parallelism") > highCompletionsParallel {
		warnings = append(warnings, p.Path.String()+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(warnings, pods.WarnPodTemplate(r, object.Map(p.Obj, "template"), p.At("template"))...)
}

package apps

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultDaemonSet sets the defaults but those of the pod template.
func defaultDaemonSet(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	strategy := object.EnsureMap(spec, "updateStrategy")
	object.SetDefault(strategy, "type", "RollingUpdate")
	if strategy["type"] == "RollingUpdate" {
		rolling := object.EnsureMap(strategy, "rollingUpdate")
		object.SetDefault(rolling, "maxUnavailable", int64(1))
		object.SetDefault(rolling, "maxSurge", int64(0))
	} else if rolling := object.Map(strategy, "rollingUpdate"); rolling != nil {
		object.SetDefault(rolling, "maxUnavailable", int64(0))
		object.SetDefault(rolling, "maxSurge", int64(0))
	}
	object.SetDefault(spec, "revisionHistoryLimit", int64(10))
	defaultTemplateGeneration(obj)
}

func defaultTemplateGeneration(obj map[string]any) {
	object.SetDefault(object.EnsureMap(object.Meta(obj), "annotations"), templateGeneration, "0")
}

// templateGeneration is the annotation for the field templateGeneration of removed
// API versions: the number of changes of spec.template. Every DaemonSet has it.
const templateGeneration = "deprecated.daemonset.template.generation"

// convertTemplateGeneration fails for a template generation that is no number: kube-apiserver's internal
// version has the field.
func convertTemplateGeneration(obj map[string]any) error {
	text, ok := object.Map(obj, "metadata", "annotations")[templateGeneration].(string)
	if !ok {
		return nil
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err
}

// prepareDaemonSet increments the template generation if an update changes the
// template. A new DaemonSet keeps its own value if it is at least 1.
func prepareDaemonSet(obj map[string]any, old object.View) {
	if old.IsNil() {
		n, _ := strconv.ParseInt(templateGenerationOf(object.ViewOf(obj)), 10, 64)
		setTemplateGeneration(obj, max(n, 1))
		return
	}
	n, _ := strconv.ParseInt(templateGenerationOf(old), 10, 64)
	if !validation.Equal(object.Value(obj, "spec", "template"), old.At("spec", "template")) {
		n++
	}
	setTemplateGeneration(obj, n)
}

// prepareDaemonSetStatus keeps the template generation.
func prepareDaemonSetStatus(obj map[string]any, old object.View) {
	kind.StatusMetadataAll.Prepare(obj, old)
	n, _ := strconv.ParseInt(templateGenerationOf(old), 10, 64)
	setTemplateGeneration(obj, n)
}

func templateGenerationOf(obj object.View) string {
	return obj.String("metadata", "annotations", templateGeneration)
}

func setTemplateGeneration(obj map[string]any, n int64) {
	object.Own(object.Meta(obj), "annotations")[templateGeneration] = strconv.FormatInt(n, 10)
}

var daemonSetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		ToInternal:               convertTemplateGeneration,
		ConversionAnnotations:    []string{templateGeneration},
		AllowUnconditionalUpdate: true,
		Default:                  withTemplate(defaultDaemonSet),
		DefaultMetadata:          defaultTemplateGeneration,
		Prepare:                  prepareDaemonSet,
		PrepareCompares:          true,
		Validate:                 validateDaemonSet(pods.CheckPodTemplate("DaemonSet")),
		ValidateMetadata:         kind.NoErrors,
		BesideTemplate:           resource.BesideTemplate{Default: defaultDaemonSet, Validate: validateDaemonSet(pods.ValidTemplate)},
		CompleteBookmark:         func(obj map[string]any) { setTemplateGeneration(obj, 0) },
	},
	Warnings:            warnDaemonSet,
	ValidatedAsNewUntil: behavior.AppsUpdatesOnce,
	GenerationFields:    []string{"spec"},
	Status: kind.Status{
		Prepare:  prepareDaemonSetStatus,
		Validate: daemonSetCounters.Validate,
	},
	Cells: daemonSetCells,
}

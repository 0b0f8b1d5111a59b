package batch

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// The labels of a Job's pods, and their legacy names without a prefix.
const (
	jobName             = "batch.kubernetes.io/job-name"
	legacyJobName       = "job-name"
	controllerUID       = "batch.kubernetes.io/controller-uid"
	legacyControllerUID = "controller-uid"
)

// prepareJob generates the selector and the pod labels of a new Job, unless
// spec.manualSelector is true.
func prepareJob(obj map[string]any, old object.View) {
	if !old.IsNil() || object.Bool(obj, "spec", "manualSelector") {
		return
	}
	meta, spec := object.Meta(obj), object.EnsureMap(obj, "spec")
	template := object.EnsureMap(object.EnsureMap(spec, "template"), "metadata")
	_, shared := template["labels"].(object.EmptyMap)
	labels := object.EnsureMap(template, "labels")
	if shared && len(object.Map(meta, "labels")) == 0 { // as labels that are not empty are by defaultJob
		meta["labels"] = labels
	}
	for _, label := range []struct{ name, from string }{
		{jobName, "name"}, {legacyJobName, "name"}, {controllerUID, "uid"}, {legacyControllerUID, "uid"},
	} {
		if _, ok := labels[label.name]; !ok {
			labels[label.name] = object.String(meta, label.from)
		}
	}
	object.SetDefault(object.EnsureMap(object.EnsureMap(spec, "selector"), "matchLabels"), controllerUID, object.String(meta, "uid"))
}

// completeJob sets the labels of a new Job without labels to those of its template.
func completeJob(obj map[string]any) bool {
	return kind.CopyLabels(object.Meta(obj), object.Value(obj, "spec", "template", "metadata", "labels"))
}

var jobStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:             resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate:       true,
		DefaultGarbageCollectionPolicy: resource.OrphanDependents,
		OrphanWarning:                  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
		Default:                        defaultJob,
		Prepare:                        prepareJob,
		ReadBack:                       completeJob,
		Validate:                       validateJob,
		SelectableFields:               []resource.Field{kind.WithDefault(kind.SelectableField("status.successful", "status", "succeeded"), "0")},
		FieldLabelError:                func(label string) string { return fmt.Sprintf("field label %q not supported for Job", label) },
	},
	Warnings:         warnJob,
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Validate: validateJobStatus},
	Cells:            jobCells,
}

package core

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultPodTemplate(obj map[string]any) { pods.DefaultTemplate(object.EnsureMap(obj, "template")) }

func preparePodTemplate(obj map[string]any, _ object.View) {
	object.EnsureMap(object.EnsureMap(obj, "template"), "spec")
}

func validatePodTemplate(obj map[string]any, _ object.View) validation.List {
	return pods.ValidatePodTemplate(object.Map(obj, "template"), validation.NewPath("template"))
}

func warnPodTemplate(r validation.Release, obj map[string]any, old object.View) []string {
	if !old.IsNil() && pods.SameGeneration(obj, old) {
		return nil
	}
	return pods.WarnPodTemplate(r, object.Map(obj, "template"), validation.NewPath("template"))
}

var podTemplateStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultPodTemplate,
		Prepare:                  preparePodTemplate,
		Validate:                 validatePodTemplate,
	},
	Warnings:         warnPodTemplate,
	GenerationFields: []string{"template"},
	Cells: func(r table.Row) []any {
		containers, images := r.Containers("template", "spec")
		return []any{r.Name(), containers, images, r.Labels("template", "metadata", "labels")}
	},
}

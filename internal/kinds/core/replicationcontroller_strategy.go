package core

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultReplicationController(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "replicas", int64(1))
	template := object.Map(spec, "template")
	if template == nil {
		return
	}
	labels := object.Map(template, "metadata", "labels")
	if len(object.Map(spec, "selector")) == 0 && len(labels) > 0 {
		spec["selector"] = object.Copy(labels)
	}
	kind.CopyLabels(object.Meta(obj), labels)
	pods.DefaultTemplate(template)
}

var replicationControllerStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Name:                           validation.UnprefixedName,
		DeclaresName:                   true,
		AllowUnconditionalUpdate:       true,
		DefaultGarbageCollectionPolicy: resource.OrphanDependents,
		Default:                        defaultReplicationController,
		Validate:                       validateReplicationController,
		SelectableFields:               []resource.Field{kind.WithDefault(kind.SelectableField("status.replicas", "status", "replicas"), "0")},
		FieldLabelError:                kind.FieldLabelNotSupported,
	},
	Warnings:            warnReplicationController,
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	GenerationFields:    []string{"spec"},
	Status:              kind.Status{Validate: replicationControllerCounters.Validate},
	Cells:               replicationControllerCells,
}

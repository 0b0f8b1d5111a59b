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
	completeReplicationController(obj)
	pods.DefaultTemplate(template)
}

// completeReplicationController sets the labels of a ReplicationController without labels to those
// of its template.
func completeReplicationController(obj map[string]any) bool {
	return kind.CopyLabels(object.Meta(obj), object.Value(obj, "spec", "template", "metadata", "labels"))
}

var replicationControllerStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Name:                           validation.UnprefixedName,
		DeclaresName:                   true,
		AllowUnconditionalUpdate:       true,
		DefaultGarbageCollectionPolicy: resource.OrphanDependents,
		Default:                        defaultReplicationController,
		ReadBack:                       completeReplicationController,
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

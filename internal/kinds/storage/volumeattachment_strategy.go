package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

func defaultVolumeAttachment(obj map[string]any) {
	if spec := object.Map(obj, "spec", "source", "inlineVolumeSpec"); spec != nil {
		volumes.DefaultVolumeSpec(spec)
	}
}

var volumeAttachmentStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		ReturnDeletedObject: true,
		Default:             defaultVolumeAttachment,
		Validate:            validateVolumeAttachment,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateVolumeAttachment,
	},
	Cells: func(r table.Row) []any {
		return []any{
			r.Name(), r.String("spec", "attacher"), r.String("spec", "source", "persistentVolumeName"), r.String("spec", "nodeName"),
			r.Bool("status", "attached"), r.Age(),
		}
	},
}

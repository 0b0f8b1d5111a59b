package nodes

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// prepareNode keeps the status that a create request sets. An update keeps the old
// status.
func prepareNode(obj map[string]any, old object.View) {
	kind.DropDisabledField(object.EnsureMap(obj, "spec"), old.At("spec"), "configSource")
	if !old.IsNil() {
		object.Keep(obj, old, "status")
		return
	}
	object.Remove(object.EnsureMap(obj, "status"), "config")
}

func prepareNodeStatus(obj map[string]any, old object.View) {
	kind.StatusMetadataAll.Prepare(obj, old)
	kind.DropDisabledField(object.EnsureMap(obj, "status"), old.At("status"), "config")
}

var nodeStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultNode,
		DefaultStatus:            defaultNodeStatus,
		DefaultMetadata:          kind.NoDefaults,
		ReadBack:                 defaultEmptyAllocatable,
		Prepare:                  prepareNode,
		PrepareIgnoresMetadata:   kind.IgnoresMetadata,
		Validate:                 validateNode,
		WarningsOnWrite:          warnNode,
		SelectableFields:         []resource.Field{kind.WithDefault(kind.SelectableField("spec.unschedulable", "spec", "unschedulable"), "false")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Status: kind.Status{
		OwnedByPrepare: true,
		Prepare:        prepareNodeStatus,
		Validate:       validateNodeStatus,
	},
	Cells: nodeCells,
}

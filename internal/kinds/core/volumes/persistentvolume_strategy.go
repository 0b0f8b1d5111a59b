package volumes

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// preparePersistentVolume sets the status of a new PersistentVolume.
func preparePersistentVolume(obj map[string]any, old object.View) {
	if old.IsNil() {
		obj["status"] = map[string]any{"phase": "Pending", "lastPhaseTransitionTime": object.Value(obj, "metadata", "creationTimestamp")}
	}
}

// setPhaseTransitionTime sets lastPhaseTransitionTime when an update changes the
// phase.
func setPhaseTransitionTime(obj map[string]any, old object.View, by resource.Author) {
	const date = "lastPhaseTransitionTime"
	if old.IsNil() {
		return
	}
	status, before := object.EnsureMap(obj, "status"), old.At("status")
	switch {
	case kind.SameField(status, before, "phase"):
		kind.CopyMissing(status, before, date)
	case status[date] == nil, kind.SameField(status, before, date):
		status[date] = by.Now
	}
}

var persistentVolumeStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataCreateTwice,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultPersistentVolume,
		Prepare:                  preparePersistentVolume,
		PrepareWithAuthor:        setPhaseTransitionTime,
		Validate:                 validatePersistentVolume,
		WarningsOnWrite:          warnPersistentVolume,
	},
	Cells: persistentVolumeCells,
}

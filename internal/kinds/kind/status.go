package kind

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Status describes the status subresource of a built-in resource.
type Status struct {
	// Metadata says which metadata a write to the subresource can change.
	Metadata StatusMetadata

	// Prepare is resource.SubresourceStrategy.Prepare. If it is nil, Metadata.Prepare is
	// used. A Prepare that is not nil must call Metadata.Prepare.
	Prepare func(obj map[string]any, old object.View)

	Validate        func(obj map[string]any, old object.View) validation.List
	WarningsOnWrite func(obj map[string]any, old object.View) []string

	// MetadataOnce is resource.SubresourceStrategy.MetadataOnce.
	MetadataOnce bool

	// ResetFields are reset in addition to spec and what Metadata implies.
	ResetFields []string

	// Kept are the fields of the status that a write without them keeps, in releases with KeptSince.
	// An empty list removes one.
	Kept      []string
	KeptSince behavior.Behavior

	// OwnedByPrepare disables the default handling of status in writes to the object
	// itself: an empty status on create, the old status on update. The Prepare of the
	// Strategy sets it instead.
	OwnedByPrepare bool

	// ResetSince is the behavior of releases in which field managers do not own what a write does
	// not change. In older ones the manager of a write to the object owns the fields of status in the
	// body, and that of a write to the status the metadata.
	ResetSince behavior.Behavior

	// ResetGate, if not "", is the feature gate without which writes to the object set the
	// status too.
	ResetGate string
}

func (s *Status) build(r *release.Release) resource.SubresourceStrategy {
	prepare := s.Prepare
	if prepare == nil {
		prepare = s.Metadata.Prepare
	}
	if len(s.Kept) > 0 && r.Has(s.KeptSince) {
		prepareRest := prepare
		prepare = func(obj map[string]any, old object.View) {
			prepareRest(obj, old)
			status := object.EnsureMap(obj, "status")
			for _, name := range s.Kept {
				if v := old.At("status", name); !v.IsNil() && status[name] == nil {
					status[name] = v.Shared()
				}
			}
		}
	}
	reset := []string{"spec"}
	if r.Has(s.ResetSince) {
		reset = slices.Concat(reset, s.Metadata.resetFields(), s.ResetFields)
	}
	return resource.SubresourceStrategy{
		Prepare:         prepare,
		Validate:        s.Validate,
		WarningsOnWrite: s.WarningsOnWrite,
		MetadataOnce:    s.MetadataOnce,
		ResetFields:     reset,
	}
}

// A StatusMetadata says which metadata a write to a status subresource can change.
type StatusMetadata int

const (
	StatusMetadataAll          StatusMetadata = iota // what an update can change
	StatusMetadataNone                               // nothing
	StatusMetadataExceptLabels                       // all but labels
	StatusMetadataExceptOwners                       // all but ownerReferences and deletionTimestamp
)

// resetFields returns the metadata paths that a write to the status cannot change.
func (m StatusMetadata) resetFields() []string {
	switch m {
	case StatusMetadataNone:
		return []string{"metadata"}
	case StatusMetadataExceptLabels:
		return []string{"metadata.labels"}
	case StatusMetadataExceptOwners:
		return []string{"metadata.deletionTimestamp", "metadata.ownerReferences"}
	}
	return nil
}

// Prepare copies everything from old to obj except status and the metadata that m
// can change.
func (m StatusMetadata) Prepare(obj map[string]any, old object.View) {
	for name := range obj {
		switch name {
		case "kind", "apiVersion", "metadata", "status":
		default:
			object.Keep(obj, old, name)
		}
	}
	for name := range old.Fields() {
		if _, ok := obj[name]; !ok && name != "status" {
			object.Keep(obj, old, name)
		}
	}
	meta, oldMeta := object.Meta(obj), old.At("metadata")
	switch m {
	case StatusMetadataNone:
		for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers", "deletionGracePeriodSeconds", "deletionTimestamp"} {
			object.Keep(meta, oldMeta, name)
		}
	case StatusMetadataExceptLabels:
		object.Keep(meta, oldMeta, "labels")
	case StatusMetadataExceptOwners:
		object.Keep(meta, oldMeta, "ownerReferences")
		object.Keep(meta, oldMeta, "deletionTimestamp")
	}
}

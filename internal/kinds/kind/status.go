package kind

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Status describes the status subresource of a built-in resource.
type Status struct {
	// Metadata is what a write to the subresource can change of metadata.
	Metadata StatusMetadata

	// Prepare is resource.SubresourceStrategy.Prepare. If it is nil, Metadata.Prepare
	// is used; a Prepare that is not nil has to call it.
	Prepare func(obj, old map[string]any)

	Validate        func(obj, old map[string]any) validation.List
	WarningsOnWrite func(obj, old map[string]any) []string

	// ResetFields are reset in addition to spec and what Metadata implies.
	ResetFields []string

	// OwnedByPrepare leaves the status of a write to the object to the Prepare of
	// the Strategy. Otherwise a new object gets an empty status, and an update keeps
	// the old one.
	OwnedByPrepare bool
}

func (s *Status) build() resource.SubresourceStrategy {
	prepare := s.Prepare
	if prepare == nil {
		prepare = s.Metadata.Prepare
	}
	return resource.SubresourceStrategy{
		Prepare:         prepare,
		Validate:        s.Validate,
		WarningsOnWrite: s.WarningsOnWrite,
		ResetFields:     slices.Concat([]string{"spec"}, s.Metadata.resetFields(), s.ResetFields),
	}
}

// A StatusMetadata is what a write to a status subresource can change of metadata.
type StatusMetadata int

const (
	StatusMetadataAll          StatusMetadata = iota // what an update can change
	StatusMetadataNone                               // nothing
	StatusMetadataExceptLabels                       // all but labels
	StatusMetadataExceptOwners                       // all but ownerReferences
)

// resetFields returns the paths that a write to the status leaves as they are.
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

// Prepare copies from old to obj all but status and what m can change.
func (m StatusMetadata) Prepare(obj, old map[string]any) {
	for name := range obj {
		switch name {
		case "kind", "apiVersion", "metadata", "status":
		default:
			object.Keep(obj, old, name)
		}
	}
	for name := range old {
		if _, ok := obj[name]; !ok && name != "status" {
			object.Keep(obj, old, name)
		}
	}
	meta, oldMeta := object.Meta(obj), object.Meta(old)
	switch m {
	case StatusMetadataNone:
		for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers", "deletionGracePeriodSeconds", "deletionTimestamp"} {
			object.Keep(meta, oldMeta, name)
		}
	case StatusMetadataExceptLabels:
		object.Keep(meta, oldMeta, "labels")
	case StatusMetadataExceptOwners:
		object.Keep(meta, oldMeta, "ownerReferences")
	}
}

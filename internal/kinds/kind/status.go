package kind

import (
	"github.com/kubefake/kubefake/internal/object"
)

// A StatusMetadata is what a write to a status subresource may do to metadata,
// besides the object's status.
type StatusMetadata int

const (
	StatusMetadataAll          StatusMetadata = iota // all that an update may
	StatusMetadataNone                               // nothing
	StatusMetadataExceptLabels                       // anything but labels
	StatusMetadataExceptOwners                       // anything but ownerReferences
)

// Reset are the paths of metadata that a write to the status leaves alone.
func (r StatusMetadata) Reset() []string {
	switch r {
	case StatusMetadataNone:
		return []string{"metadata"}
	case StatusMetadataExceptLabels:
		return []string{"metadata.labels"}
	case StatusMetadataExceptOwners:
		return []string{"metadata.deletionTimestamp", "metadata.ownerReferences"}
	}
	return nil
}

// Prepare keeps of obj, written to the status subresource, what it may write.
func (r StatusMetadata) Prepare(obj, old map[string]any) {
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
	switch r {
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

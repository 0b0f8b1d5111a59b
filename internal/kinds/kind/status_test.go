package kind

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestStatusMetadataPrepare(t *testing.T) {
	pod := func(status, spec, label, annotation string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{
				"labels":      map[string]any{"l": label},
				"annotations": map[string]any{"a": annotation},
			},
			"spec": spec, "status": status,
		}
	}
	for _, row := range []struct {
		name              string
		metadata          StatusMetadata
		label, annotation string
	}{
		{"all metadata", StatusMetadataAll, "new", "new"},
		{"no metadata", StatusMetadataNone, "old", "old"},
		{"all but labels", StatusMetadataExceptLabels, "old", "new"},
		{"all but owners", StatusMetadataExceptOwners, "new", "new"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := pod("new", "new", "new", "new")
			obj["extra"] = "new"
			row.metadata.Prepare(obj, object.ViewOf(pod("old", "old", "old", "old")))
			assert.Equal(t, pod("new", "old", row.label, row.annotation), obj)
		})
	}
}

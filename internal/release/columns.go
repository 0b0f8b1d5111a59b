package release

import (
	"encoding/json"
	"sync"

	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/table"
)

// Columns returns the table columns of a built-in kind, or nil for a kind that has
// those of [table.Default]. group is "" for the core group. The columns are the same
// in all versions of the kind and in all releases. The caller must not change the
// slice.
func Columns(group, kind string) []table.Column {
	if group != "" {
		kind = group + "/" + kind
	}
	return columns()[kind]
}

// columns returns the columns by group and kind, "apps/Deployment" or "Pod".
var columns = sync.OnceValue(func() map[string][]table.Column {
	var file struct {
		Texts map[string]string
		Kinds map[string][]table.Column
	}
	if err := json.Unmarshal([]byte(data.Columns()), &file); err != nil {
		panic("release: columns.json: " + err.Error()) // unreachable: a test reads it
	}
	for _, columns := range file.Kinds {
		for i := range columns {
			if text := columns[i].Description; text != "" && text[0] == '@' {
				columns[i].Description = file.Texts[text[1:]]
			}
		}
	}
	return file.Kinds
})

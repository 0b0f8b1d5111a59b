package release

import (
	"encoding/json"
	"sync"

	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/table"
)

// Columns returns the table columns of a built-in kind in the release, or nil for a kind
// that has those of [table.Default]. group is "" for the core group. The columns are the
// same in all versions of the kind. The caller must not change the slice.
func (r *Release) Columns(group, kind string) []table.Column {
	if group != "" {
		kind = group + "/" + kind
	}
	minor := minorNumber(Newest)
	file := columns()
	for m := r.Minor(); m < minor; m++ {
		if columns, ok := file.Older[m][kind]; ok && len(columns) == 0 {
			return nil
		} else if ok {
			return columns
		}
	}
	return file.Kinds[kind]
}

// A columnsFile is the content of columns.json.
type columnsFile struct {
	Texts map[string]string
	Kinds map[string][]table.Column // by group and kind, "apps/Deployment" or "Pod"
	// Older has, by the minor numbers of older releases, the kinds whose columns the next
	// release changed.
	Older map[int]map[string][]table.Column
}

// columns returns the columns of all releases.
var columns = sync.OnceValue(func() columnsFile {
	var file columnsFile
	if err := json.Unmarshal([]byte(data.Columns()), &file); err != nil {
		panic("release: columns.json: " + err.Error()) // unreachable: a test reads it
	}
	describe := func(kinds map[string][]table.Column) {
		for _, columns := range kinds {
			for i := range columns {
				if text := columns[i].Description; text != "" && text[0] == '@' {
					columns[i].Description = file.Texts[text[1:]]
				}
			}
		}
	}
	describe(file.Kinds)
	for _, kinds := range file.Older {
		describe(kinds)
	}
	return file
})

package table

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/release/data"
)

// A printer returns the cells of an object.
type printer func(r row) []any

// printers are the kinds with cells of their own, by group and kind. The core
// group has no prefix.
var printers = func() map[string]printer {
	all := map[string]printer{}
	for _, group := range []map[string]printer{
		corePrinters, nodePrinters, volumePrinters, workloadPrinters, networkPrinters, policyPrinters, extensionPrinters, devicePrinters,
	} {
		maps.Copy(all, group)
	}
	return all
}()

// conditions are the kinds whose rows have conditions.
var conditions = map[string]func(obj map[string]any) []Condition{"Pod": podConditions}

// For returns the layout of a built-in kind, [Default] if it has none of its
// own. group is "" for the core group.
func For(group, kind string) *Layout {
	if group != "" {
		kind = group + "/" + kind
	}
	if l := layouts()[kind]; l != nil {
		return l
	}
	return Default
}

// layouts combines the columns with the printers.
var layouts = sync.OnceValue(func() map[string]*Layout {
	var file struct {
		Texts map[string]string
		Kinds map[string][]Column
	}
	if err := json.Unmarshal([]byte(data.Columns()), &file); err != nil {
		panic("table: columns.json: " + err.Error()) // unreachable: a test reads it
	}
	out := make(map[string]*Layout, len(file.Kinds))
	for kind, columns := range file.Kinds {
		p := printers[kind]
		if p == nil {
			continue
		}
		for i := range columns {
			if text := columns[i].Description; text != "" && text[0] == '@' {
				columns[i].Description = file.Texts[text[1:]]
			}
		}
		out[kind] = &Layout{
			Columns:    columns,
			Cells:      func(obj map[string]any, now time.Time) []any { return p(row{obj, now}) },
			Conditions: conditions[kind],
		}
	}
	return out
})

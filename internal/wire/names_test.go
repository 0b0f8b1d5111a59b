package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzNameTable compares a table with a Go map. The fuzzer's text has the names, one a line.
func FuzzNameTable(f *testing.F) {
	f.Add("metadata\nspec\nstatus\nkind\napiVersion")
	f.Add("a\nb\nab\nabc\nabcd\nabcde\nabcdefgh\nabcdefghi\n")
	f.Add("terminationGracePeriodSeconds\nterminationGracePeriodSecondz\nactiveDeadlineSeconds")
	f.Add("twice\nonce\ntwice\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := strings.Split(text, "\n")
		table, want := NewNameTable(list), map[string]int{}
		for i, name := range list {
			if _, twice := want[name]; !twice {
				want[name] = i
			}
		}
		for _, name := range list {
			for _, name := range []string{name, name + "x", strings.TrimSuffix(name, "s"), strings.ToUpper(name), ""} {
				i, ok := want[name]
				if !ok {
					i = -1
				}
				assert.Equal(t, i, table.Find(name), "%q", name)
			}
		}
	})
}

func TestZeroNameTable(t *testing.T) {
	var table NameTable
	assert.Equal(t, -1, table.Find("metadata"))
	assert.Equal(t, -1, table.Find(""))
	assert.Equal(t, NameTable{}, NewNameTable(nil))
}

// TestAlikeNames checks that names which differ in few bytes are spread over the slots.
func TestAlikeNames(t *testing.T) {
	for _, format := range []string{"field%05d", "f%05d", "%05dOfTheField", "aLongNameOf%05dTheField"} {
		names := make([]string, 1000)
		for i := range names {
			names[i] = fmt.Sprintf(format, 7*i)
		}
		longest, row := 0, 0
		for _, position := range NewNameTable(names).slots {
			if row++; position == 0 {
				row = 0
			}
			longest = max(longest, row)
		}
		assert.Less(t, longest, 40, "%s: slots in a row", format)
	}
}

func BenchmarkFindName(b *testing.B) {
	names := []string{"apiVersion", "kind", "metadata", "spec", "status", "terminationGracePeriodSeconds"}
	table := NewNameTable(names)
	b.ReportAllocs()
	for i := range b.N {
		table.Find(names[i%len(names)])
	}
}

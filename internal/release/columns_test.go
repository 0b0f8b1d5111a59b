package release

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestColumnsOfReleases(t *testing.T) {
	for _, row := range []struct {
		release, kind string
		want          []string
	}{
		{"1.32", "ServiceAccount", []string{"Name", "Secrets", "Age"}},
		{"1.34", "ServiceAccount", []string{"Name", "Secrets", "Age"}},
		{"1.35", "ServiceAccount", []string{"Name", "Age"}},
		{"1.32", "ResourceQuota", []string{"Name", "Age", "Request", "Limit"}},
		{"1.33", "ResourceQuota", []string{"Name", "Request", "Limit", "Age"}},
	} {
		t.Run(row.release+" "+row.kind, func(t *testing.T) {
			r, err := Open(row.release)
			require.NoError(t, err)
			var names []string
			for _, c := range r.Columns("", row.kind) {
				names = append(names, c.Name)
			}
			assert.Equal(t, row.want, names)
		})
	}
}

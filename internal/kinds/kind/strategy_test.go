package kind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestValidatedAsNew(t *testing.T) {
	validate := func(_, old map[string]any) validation.List {
		errs := validation.List{validation.Required(validation.NewPath("always"), "")}
		if old != nil {
			errs = append(errs, validation.Required(validation.NewPath("update"), ""))
		}
		return errs
	}
	twice := ValidatedAsNew{Before: 35, Times: 1}
	for _, tt := range []struct {
		release string
		old     map[string]any
		want    []string
	}{
		{"v1.34", nil, []string{"always"}},
		{"v1.34", map[string]any{}, []string{"always", "always", "update"}},
		{"v1.35", map[string]any{}, []string{"always", "update"}},
	} {
		r, err := release.Open(tt.release)
		require.NoError(t, err)
		var got []string
		for _, e := range twice.validate(r, validate)(map[string]any{}, tt.old) {
			got = append(got, e.Field)
		}
		assert.Equal(t, tt.want, got, tt.release)
	}
}

package crd_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
)

// A release accepts the libraries of the release before its own.
func TestRulesOfReleases(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		since int // the first release that accepts it
	}{
		{"['a'].all(i, v, i == 0 && v == 'a')", 33},
		{"isSemver('1.0.0')", 34},
		{"[2, 1].sort() == [1, 2]", 35},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			obj := widgets(t)
			version := object.List(obj, "spec", "versions")[0].(map[string]any)
			props := object.Map(version, "schema", "openAPIV3Schema")
			require.NotNil(t, props)
			props["x-kubernetes-validations"] = []any{map[string]any{"rule": tt.rule}}
			for minor := 32; minor <= 36; minor++ {
				r, err := release.Open(fmt.Sprintf("v1.%d", minor))
				require.NoError(t, err)
				message := crd.RulesOf(r).Validate(context.Background(), obj, nil).Message()
				if minor < tt.since {
					assert.Contains(t, message, "undeclared reference", "1.%d", minor)
				} else {
					assert.NotContains(t, message, "undeclared reference", "1.%d", minor)
				}
			}
		})
	}
}

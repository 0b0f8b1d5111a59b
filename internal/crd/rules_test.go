package crd_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
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
				message := crd.RulesOf(minor).Validate(context.Background(), obj, nil).Message()
				if minor < tt.since {
					assert.Contains(t, message, "undeclared reference", "1.%d", minor)
				} else {
					assert.NotContains(t, message, "undeclared reference", "1.%d", minor)
				}
			}
		})
	}
}

package crd_test

import (
	"context"
	"fmt"
	"strings"
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
				message := crd.RulesOf(r).Validate(context.Background(), obj, object.View{}).Message()
				if minor < tt.since {
					assert.Contains(t, message, "undeclared reference", "1.%d", minor)
				} else {
					assert.NotContains(t, message, "undeclared reference", "1.%d", minor)
				}
			}
		})
	}
}

// An error in the metadata of an embedded resource quotes it as the release does.
func TestEmbeddedMetadataOfReleases(t *testing.T) {
	for minor, want := range map[int]string{
		33: `map[string]interface {}{"labels":map[string]interface {}{"a":1}}`,
		34: `{"labels":{"a":1}}`,
	} {
		r, err := release.Open(fmt.Sprintf("v1.%d", minor))
		require.NoError(t, err)
		_, obj := reconcileAll(t, widgets(t, map[string]any{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
			at("version", "schema", "openAPIV3Schema", "properties", "e")))
		codec := crd.New(object.ViewOf(obj), nil, crd.Options{Rules: crd.RulesOf(r)}).Types[0].Codec
		_, _, err = codec.Decode([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","e":{"metadata":{"labels":{"a":1}}}}`), false)
		assert.EqualError(t, err, "e.metadata: Invalid value: "+want+": json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string", "1.%d", minor)
	}
}

// Errors that only other releases have do not keep rules from being evaluated.
func TestRulesBesideErrorsOfReleases(t *testing.T) {
	for minor, blocked := range map[int]bool{36: false, 37: true} {
		r, err := release.Open(fmt.Sprintf("v1.%d", minor))
		require.NoError(t, err)
		_, obj := reconcileAll(t, widgets(t, map[string]any{
			"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
			"x-kubernetes-validations": []any{map[string]any{"rule": "false"}},
		}, at("version", "schema", "openAPIV3Schema", "properties", "e")))
		typ := crd.New(object.ViewOf(obj), nil, crd.Options{Rules: crd.RulesOf(r)}).Types[0]
		created := map[string]any{"metadata": map[string]any{"name": "w"}, "e": map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"ownerReferences": []any{map[string]any{}}},
		}}
		message := typ.ValidateAll(context.Background(), created, object.View{}, nil).In(r, "example.com", "Widget").Message()
		assert.Equal(t, blocked, strings.Contains(message, "some validation rules were not checked"), message)
		assert.Equal(t, !blocked, strings.Contains(message, "failed rule: false"), message)
	}
}

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The documents are valid, and each of the 40 kinds has a schema.
func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	definitions, input, schemas := filepath.Join(dir, "definitions.yaml"), filepath.Join(dir, "documents"), filepath.Join(dir, "schemas")
	require.NoError(t, os.WriteFile(definitions, customKinds, 0o600))
	require.NoError(t, writeDocuments(input, 95, 1))
	require.NoError(t, writeSchemas(schemas, definitions))
	files, err := os.ReadDir(input)
	require.NoError(t, err)
	assert.Len(t, files, 10)
	kinds, count := map[string]bool{}, 0
	for r, err := range manifests.Validate(context.Background(), manifests.Config{CRDs: []string{definitions}}, input) {
		require.NoError(t, err)
		assert.Equal(t, manifests.Valid, r.Outcome, "%s %s: %v", r.Kind, r.Name, r.Findings)
		assert.Empty(t, r.Findings)
		count++
		group, version, ok := strings.Cut(r.APIVersion, "/")
		if !ok {
			version = group
		}
		name := filepath.Join(group, strings.ToLower(r.Kind)+"_"+version+".json")
		kinds[name] = true
		text, err := os.ReadFile(filepath.Join(schemas, name))
		require.NoError(t, err)
		assert.True(t, json.Valid(text))
		assert.NotContains(t, string(text), "$ref")
		assert.Contains(t, string(text), `"additionalProperties":false`)
	}
	assert.Equal(t, 95, count)
	assert.Len(t, kinds, 40)
	_, err = documentOf("Deployment")
	require.NoError(t, err)
}

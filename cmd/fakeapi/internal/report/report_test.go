package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

var update = flag.Bool("update", false, "write the files in testdata")

// results have each outcome, severity and kind of place, and text that is not printable.
var results = []*manifests.Result{
	{
		File: "deploy/web.yaml", Document: 1, Line: 1, Column: 1, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web",
		Outcome: manifests.Invalid,
		Findings: []manifests.Finding{
			{Severity: manifests.Error, Reason: "FieldValueInvalid", Field: "spec.replicas", Message: "spec.replicas: Invalid value: -1: must be greater than or equal to 0", Line: 7, Column: 3, Text: "  replicas: -1"},
			{Severity: manifests.Warning, Reason: "Warning", Message: "two\nlines, 100%", Line: 9, Column: 1, Text: strings.Repeat("x", 200), Releases: []string{"v1.36.3"}},
		},
		Answers: []manifests.Answer{{Release: "v1.36.3", Code: 422, Reason: "Invalid", Message: "all of it", Warnings: []string{"two\nlines, 100%"}}},
	},
	{
		File: "deploy/web.yaml", Document: 2, Line: 20, Column: 1, APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web",
		Outcome: manifests.Valid,
		Object:  map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": 80.0}}, "type": nil}},
		Answers: []manifests.Answer{{Release: "v1.36.3", Code: 201, Object: map[string]any{
			"metadata": map[string]any{"uid": "1", "labels": map[string]any{"a.b": "c"}},
			"spec":     map[string]any{"ports": []any{map[string]any{"port": 80.0, "protocol": "TCP"}}, "type": "ClusterIP"},
		}}},
	},
	{
		File: manifests.Stdin, Origin: "shop/templates/a.yaml", Document: 1, Line: 2, Column: 1, APIVersion: "x.example.com/v1", Kind: "Widget", Name: "a\x1b[31m",
		Outcome:  manifests.MissingKind,
		Findings: []manifests.Finding{{Severity: manifests.Error, Reason: "MissingKind", Message: `no matches for kind "Widget" \u202e` + "\u202e", Line: 3, Column: 1, Text: "kind: Widget"}},
	},
	{
		File: "old.yaml", Document: 1, Line: 1, Column: 1, APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "a", Outcome: manifests.Invalid,
		Findings: []manifests.Finding{
			{Severity: manifests.Error, Reason: "FieldValueInvalid", Message: "of two releases", Line: 1, Column: 1, Releases: []string{"v1.34.4", "v1.35.4"}, Writes: []string{"create"}},
			{Severity: manifests.Warning, Reason: "Warning", Message: "of those from one on", Line: 1, Column: 1, Releases: []string{"v1.34.4", "v1.35.4", "v1.36.3"}, Writes: []string{"create", "apply"}},
			{Severity: manifests.Note, Reason: "FeatureGate", Message: "of one write of all releases", Line: 1, Column: 1, Writes: []string{"update"}},
		},
		Answers: []manifests.Answer{{Release: "v1.33.13", Code: 201}, {Release: "v1.34.4", Code: 422}, {Release: "v1.35.4", Code: 422}, {Release: "v1.36.3", Code: 201}},
	},
	{File: "deploy/values.yaml", Document: 1, Line: 1, Column: 1, Outcome: manifests.NoObject, Findings: []manifests.Finding{{Reason: "NoObject", Message: "it has no kind", Line: 1, Column: 1}}},
	{File: "none.yaml", Outcome: manifests.Unreadable, Findings: []manifests.Finding{{Severity: manifests.Error, Reason: "File", Message: "no such file or directory"}}},
	{File: "secret.yaml", Document: 1, Line: 1, Column: 1, APIVersion: "v1", Kind: "Secret", Name: "a", Outcome: manifests.Skipped},
}

// updates are results with a base.
var updates = []*manifests.Result{
	{
		File: "deploy/web.yaml", Document: 1, Line: 1, Column: 1, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web",
		Outcome: manifests.Valid, State: manifests.Changed,
		Answers: []manifests.Answer{{Release: "v1.36.3", Code: 200, State: manifests.Changed, Changes: []manifests.Change{
			{Path: "spec.replicas", Old: 2, New: 3}, {Path: "metadata.labels[\"a.b\"]", New: "<c>\x1b"}, {Path: "spec.paused", Old: true},
		}}},
	},
	{
		File: "deploy/web.yaml", Document: 2, Line: 20, Column: 1, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "api",
		Outcome: manifests.Invalid, State: manifests.Refused,
		Findings: []manifests.Finding{{Severity: manifests.Error, Reason: "FieldValueInvalid", Field: "spec.selector", Message: "spec.selector: field is immutable", Line: 25, Column: 3, Text: "  selector: {}"}},
		Answers:  []manifests.Answer{{Release: "v1.36.3", Code: 422, State: manifests.Refused, Reason: "Invalid", Message: "field is immutable"}},
	},
	{File: "deploy/web.yaml", Document: 3, Line: 40, Column: 1, APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web", Outcome: manifests.Valid, State: manifests.Created},
	{File: "deploy/web.yaml", Document: 4, Line: 50, Column: 1, APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web", Outcome: manifests.Valid, State: manifests.Unchanged},
	{
		File: "main:deploy/old.yaml", FromBase: true, Document: 1, Line: 1, Column: 1, APIVersion: "v1", Kind: "Namespace", Name: "old", Outcome: manifests.Valid, State: manifests.Gone,
		Findings: []manifests.Finding{{Reason: "Dependents", Message: "its deletion also deletes ConfigMap old/a", Line: 1, Column: 1}},
	},
}

func TestFormats(t *testing.T) {
	for _, row := range []struct {
		format, file string
		options      Options
		results      []*manifests.Result
	}{
		{"text", "text.txt", Options{}, results},
		{"text", "verbose.txt", Options{Verbose: true, Summary: true, Color: true, Diff: true}, results},
		{"json", "results.json", Options{}, results},
		{"junit", "results.xml", Options{}, results},
		{"sarif", "results.sarif", Options{Version: "v1.2.3"}, results},
		{"github", "github.txt", Options{}, results},
		{"tap", "results.tap", Options{}, results},
		{"yaml", "objects.yaml", Options{}, results},
		{"text", "updates.txt", Options{}, updates},
		{"json", "updates.json", Options{}, updates},
		{"junit", "updates.xml", Options{}, updates},
		{"sarif", "updates.sarif", Options{}, updates},
		{"github", "updates-github.txt", Options{}, updates},
		{"tap", "updates.tap", Options{}, updates},
	} {
		t.Run(row.file, func(t *testing.T) {
			var have strings.Builder
			w, err := New(row.format, &have, row.options)
			require.NoError(t, err)
			var summary manifests.Summary
			for _, r := range row.results {
				summary.Add(r)
				require.NoError(t, w.Write(r))
			}
			require.NoError(t, w.Close(End{Summary: summary, Releases: []string{"v1.36.3"}, Duration: 1234567 * time.Microsecond}))
			file := filepath.Join("testdata", row.file)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(have.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), have.String())
		})
	}
}

// Without results each format is complete.
func TestNothing(t *testing.T) {
	for format, want := range map[string]string{
		"text": "0 objects in 0 files: 0 valid, 0 invalid (0s)\n",
		"json": "{\"results\": [\n],\n\"summary\": {",
		"tap":  "TAP version 13\n1..0\n",
	} {
		var have strings.Builder
		w, err := New(format, &have, Options{})
		require.NoError(t, err)
		require.NoError(t, w.Close(End{}))
		assert.Contains(t, have.String(), want)
	}
	_, err := New("yml", nil, Options{})
	assert.EqualError(t, err, `the format "yml" is not one of text, json, junit, sarif, github, tap, yaml; did you mean yaml?`)
}

//go:build go1.24

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// badPod has a finding at line 3.
const badPod = `apiVersion: v1
kind: Pod
metadata: {name: Web}
spec: {containers: [{name: web, image: nginx}]}
`

// clusterProfile is that of a cluster of v1.35 with a definition.
const clusterProfile = `
fakeapiProfile: 1
version: v1.35.4
release: v1.35.4
objects:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: widgets.example.com}
  spec:
    group: example.com
    names: {plural: widgets, kind: Widget}
    scope: Namespaced
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

func TestValidate(t *testing.T) {
	dir := t.TempDir()
	pod := filepath.Join(dir, "pod.yaml")
	require.NoError(t, os.WriteFile(pod, []byte(badPod), 0o600))
	old := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(old, "a.yaml"), []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), 0o600))
	widget, cluster := filepath.Join(t.TempDir(), "widget.yaml"), filepath.Join(t.TempDir(), "cluster.profile")
	require.NoError(t, os.WriteFile(widget, []byte("{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}"), 0o600))
	require.NoError(t, os.WriteFile(cluster, []byte(clusterProfile), 0o600))
	for _, row := range []struct {
		args   string
		code   int
		stdout string
	}{
		{"validate", 2, ""},
		{"validate " + widget, 1, `no matches for kind "Widget"`},
		{"validate --profile " + cluster + " " + widget, 0, "1 object in 1 file: 1 valid, 0 invalid (v1.35.4, "},
		{"validate --profile " + cluster + " --release 1.36 " + widget, 0, "1 object in 1 file: 1 valid, 0 invalid (v1.36.3, "},
		{"validate --profile " + dir + "/none " + widget, 1, ""},
		{"validate --webhook-service shop/hooks " + pod, 2, ""},
		{"validate --webhook-service hooks=127.0.0.1:1 " + pod, 2, ""},
		{"validate --webhook-service shop/hooks=127.0.0.1:1 " + widget, 1, `no matches for kind "Widget"`},
		{"validate --output xml " + pod, 2, ""},
		{"validate --namespaces any " + pod, 2, ""},
		{"validate --release 1.2 " + pod, 2, ""},
		{"validate --prune " + pod, 2, ""},
		{"validate --base " + pod + " --create " + pod, 2, ""},
		{"validate --base " + pod + " --prune=all " + pod, 2, ""},
		{"validate --base " + pod + " " + pod, 2, ""},
		{"validate --base " + dir + "/none " + pod, 2, ""},
		{"validate --base " + old + " " + dir, 1, "  1:1  refused  Pod default/Web"},
		{"validate --base " + old + " --prune " + dir, 1, "  1:1  gone  ConfigMap default/a"},
		{"validate --base " + old + " " + old + "/a.yaml " + dir, 1, "2 objects in 2 files: 0 created, 0 changed, 1 unchanged, 1 refused ("},
		{"validate " + pod, 1, "  3:12  error  Pod default/Web: metadata.name: Invalid value"},
		{"validate --skip Pod " + pod, 0, "1 object in 1 file: 0 valid, 0 invalid, 1 skipped ("},
		{"validate --reject v1/Pod " + pod, 1, "the kind Pod is rejected"},
		{"validate -o github " + dir, 1, "::error file=" + pod + ",line=3,col=12,title=Pod default/Web::metadata.name: Invalid value"},
		{"validate -o tap " + dir, 1, "not ok 1 - " + pod + ":1 Pod default/Web"},
		{"validate -o json " + dir, 1, `"summary": {"files":1,"objects":1,"valid":0,"invalid":1,`},
		{"validate -o junit " + dir, 1, `<testsuites name="fakeapi validate" tests="1" failures="1" skipped="0"`},
		{"validate -o sarif " + dir, 1, `"ruleId": "FieldValueInvalid"`},
		{"validate --from 1.36 --to 1.33 " + pod, 2, ""},
		{"validate --from 1.33 --release 1.36 " + pod, 2, ""},
		{"validate --to 1.33 " + pod, 2, ""},
		{"validate --from 1.35 --fail-on warning " + pod, 1, "metadata.name: Invalid value"},
		{"validate --color always " + pod, 1, "\x1b[31merror\x1b[0m"},
	} {
		t.Run(row.args, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(t.Context(), strings.Fields(row.args), strings.NewReader(""), &stdout, &stderr)
			assert.Equal(t, row.code, code, stderr.String())
			assert.Contains(t, stdout.String(), row.stdout)
		})
	}
}

package scenarios

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// Steps apply and delete act as kubectl does: through admission, defaults and finalizers.
func TestApplyAndDelete(t *testing.T) {
	const kept = `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${ns}", name: a, finalizers: [example.com/keep]}, data: {a: "1", b: "2"}}`
	for _, row := range []struct {
		name, steps string
		err         string
		check       func(t *testing.T, srv *fakeapi.Server, ns string)
	}{
		{
			name:  "a field that is left out is removed",
			steps: "- apply: " + kept + "\n- apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: \"${ns}\", name: a}, data: {a: \"3\"}}\n",
			check: func(t *testing.T, srv *fakeapi.Server, ns string) {
				o, err := srv.Get("configmaps", ns, "a")
				require.NoError(t, err)
				assert.Equal(t, map[string]any{"a": "3"}, o["data"])
			},
		},
		{
			name:  "a finalizer keeps the object",
			steps: "- apply: " + kept + "\n- delete: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: \"${ns}\", name: a}}\n",
			check: func(t *testing.T, srv *fakeapi.Server, ns string) {
				o, err := srv.Get("configmaps", ns, "a")
				require.NoError(t, err)
				assert.NotNil(t, o["metadata"].(map[string]any)["deletionTimestamp"])
			},
		},
		{
			name:  "a list, and an object without a namespace",
			steps: "- apply: [{apiVersion: v1, kind: Namespace, metadata: {name: shop}}, {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}]\n",
			check: func(t *testing.T, srv *fakeapi.Server, _ string) {
				o, err := srv.Get("deployments.apps", "default", "web")
				require.NoError(t, err)
				assert.EqualValues(t, 1, o["spec"].(map[string]any)["replicas"], "defaults are set")
			},
		},
		{
			name:  "a wanted refusal",
			steps: "- apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: none, name: a}}\n  only: [code]\n  want: {status: 404, body: {code: 404}}\n",
		},
		{
			name:  "an invalid object",
			steps: "- apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: \"${ns}\", name: A}}\n",
			err:   `step 0 (apply ConfigMap ${ns}/A): 422 ConfigMap "A" is invalid: `,
		},
		{
			name:  "no such object",
			steps: "- delete: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: \"${ns}\", name: a}}\n",
			err:   `step 0 (delete ConfigMap ${ns}/a): 404 configmaps "a" not found`,
		},
		{
			name:  "no such kind",
			steps: "- apply: {apiVersion: v1, kind: Nothing, metadata: {name: a}}\n",
			err:   "step 0 (apply Nothing a): the server has no kind Nothing in v1",
		},
		{
			name:  "no name",
			steps: "- apply: {apiVersion: v1, kind: ConfigMap}\n",
			err:   "the object needs metadata.name",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			f, err := Parse("a.yaml", []byte("name: a\nsteps:\n"+row.steps))
			require.NoError(t, err)
			r := (&Player{URL: srv.URL, Timeout: 1}).Play(context.Background(), f.Scenarios[0])
			if row.err != "" {
				assert.ErrorContains(t, r.Err, row.err)
				assert.Zero(t, r.FailedStep())
				return
			}
			require.False(t, r.Failed(), "%s", r)
			assert.Equal(t, -1, r.FailedStep())
			if row.check != nil {
				namespaces, err := srv.List("namespaces", "")
				require.NoError(t, err)
				for _, n := range namespaces {
					if strings.HasPrefix(n.Name(), "s-") {
						row.check(t, srv, n.Name())
					}
				}
			}
		})
	}
}

func TestPosition(t *testing.T) {
	f, err := Parse("a.yaml", []byte("name: a\nsteps:\n# first\n- pause: 1s\n\n- name: b\n  pause: 1s\n---\nname: b\nsteps:\n- {pause: 1s}\n---\nname: c\nsteps: [{pause: 1s}]\n"))
	require.NoError(t, err)
	assert.Equal(t, "a.yaml:4", (&Result{Scenario: f.Scenarios[0]}).Position(0, -1))
	assert.Equal(t, "a.yaml:6", (&Result{Scenario: f.Scenarios[0]}).Position(1, -1))
	assert.Equal(t, "a.yaml:11", (&Result{Scenario: f.Scenarios[1]}).Position(0, -1))
	assert.Equal(t, "a.yaml:12", (&Result{Scenario: f.Scenarios[2]}).Position(0, -1))
}

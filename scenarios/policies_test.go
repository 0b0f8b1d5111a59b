package scenarios

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// The steps of policies say in short what the server does with a request.
func TestPlayPolicies(t *testing.T) {
	f, err := Load("testdata/policies/policies_test.yaml")
	require.NoError(t, err)
	for _, s := range f.Scenarios {
		t.Run(s.Name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			r := (&Player{URL: srv.URL}).Play(context.Background(), s)
			require.False(t, r.Failed(), "%s", r)
		})
	}
}

// A report has the line of the row, who sent what, what was expected, and what came.
func TestPolicyDifferences(t *testing.T) {
	const files = "name: a\nfiles: [testdata/policies/replica-limit.yaml, testdata/policies/team.yaml]\nsteps:\n" +
		"- store: {apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: default}, data: {max: \"5\"}}\n"
	const create = "- create:\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web, labels: {team: a}}\n" +
		"    spec: {replicas: 6, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}\n"
	for _, row := range []struct {
		name, steps string
		want        []string
	}{
		{"denied instead of allowed", create + "  as: bob\n  groups: [devs]\n  expect: allowed\n", []string{
			"a.yaml:5: step 1 (create Deployment web)\n",
			`expect: want allowed, got denied by ValidatingAdmissionPolicy/replica-limit "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'replica-limit' with binding 'replica-limit' denied request: no more than 5 replicas" (422 Invalid)` + "\n",
			"sent POST /apis/apps/v1/namespaces/default/deployments?fieldManager=kubectl-create&fieldValidation=Strict as bob of devs\n",
			`         {"apiVersion":"apps/v1",`,
		}},
		{"another policy", create + "  expect: {denied: no more, by: team}\n", []string{`want denied by team "no more", got denied by ValidatingAdmissionPolicy/replica-limit `}},
		{"another code", create + "  expect: {denied: no more, code: 403}\n", []string{`want denied "no more" (403), got`}},
		{"a row", create + "  rows:\n  - {spec.replicas: 1, expect: allowed}\n  # the second one\n  - name: another\n    spec.replicas: 2\n    expect: denied\n", []string{
			"a.yaml:13: step 1 (create Deployment web), row 1 (another)\n",
			"expect: want denied, got allowed (201)",
			`"spec":{"replicas":2,`,
		}},
		{"mutated", "- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n  as: bob\n  expect: {mutated: {metadata: {labels: {team: eve}}}}\n", []string{
			`stored.metadata.labels.team: want "eve", got "bob"`,
		}},
		{"warnings", "- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: old-a}}\n  warnings: []\n", []string{
			`warnings: want [], got ["Validation failed for ValidatingAdmissionPolicy 'old-names' with binding 'old-names': names with old- go away"]`,
		}},
		{"audit", "- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n  audit: {a/b: c}\n", []string{`audit: want a/b: "c", got only []`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := Parse("a.yaml", []byte(files+row.steps))
			require.NoError(t, err)
			srv := fakeapi.Start(t)
			r := (&Player{URL: srv.URL}).Play(context.Background(), f.Scenarios[0])
			require.NoError(t, r.Err)
			require.True(t, r.Failed())
			for _, want := range row.want {
				assert.Contains(t, r.String(), want)
			}
		})
	}
}

// Files that cannot be applied end the scenario, with the place of the object.
func TestPolicyFiles(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"testdata/none.yaml", "files: testdata/none.yaml: no such file or directory"},
		{"testdata/policies/*.none", `files: no file matches "testdata/policies/*.none"`},
		{"testdata/wrong.yaml", "files: testdata/wrong.yaml:1: the object needs apiVersion and kind"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			r := (&Player{URL: srv.URL}).Play(context.Background(), &Scenario{Name: "a", Files: []string{row.name}})
			assert.ErrorContains(t, r.Err, row.want)
		})
	}
}

// The forms of expect are equal, and are written in the shortest one.
func TestExpectation(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`allowed`, `allowed`},
		{`{allowed: true}`, `allowed`},
		{`denied no more`, `denied "no more"`},
		{`{denied: no more}`, `denied "no more"`},
		{`forbidden`, `forbidden`},
		{`/api`, `/api`},
		{`{denied: a, by: b, reason: Invalid, code: 422}`, `denied by b "a" (422 Invalid)`},
		{`{mutated: {a: b}}`, `allowed, with {"a":"b"}`},
		{`{mutated: {}}`, `allowed`},
	} {
		t.Run(row.text, func(t *testing.T) {
			s, err := parse([]byte("name: a\nsteps:\n- do: GET /a\n  expect: " + row.text))
			if strings.HasPrefix(row.text, "/") {
				s, err = parse([]byte("name: a\nsteps:\n- expect: " + row.text + "\n  want: {}"))
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, s.Steps[0].Expect.String())
			text, err := Format(s)
			require.NoError(t, err)
			again, err := parse(text)
			require.NoError(t, err)
			assert.Equal(t, s, again)
		})
	}
}

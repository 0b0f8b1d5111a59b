package scenarios

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// The coverage has every expression, those without a result too, and says what is missing.
func TestCoverage(t *testing.T) {
	f, err := Load("testdata/policies/policies_test.yaml")
	require.NoError(t, err)
	var c Coverage
	for _, s := range f.Scenarios {
		srv := fakeapi.Start(t)
		r := (&Player{URL: srv.URL, Coverage: &c}).Play(context.Background(), s)
		require.False(t, r.Failed(), "%s", r)
	}
	assert.Equal(t, `ValidatingAdmissionPolicy/replica-limit: 9 of 9
  ok  match condition   testdata/policies/replica-limit.yaml:20  true 5, false 1            !('operators' in request.userInfo.groups)
  ok  variable          testdata/policies/replica-limit.yaml:23  values 8, errors 2         int(params.data.max)
  ok  validation        testdata/policies/replica-limit.yaml:25  true 3, false 1, errors 1  object.spec.replicas <= variables.limit
  ok  message           testdata/policies/replica-limit.yaml:26  values 1                   'no more than ' + string(variables.limit) + ' replicas'
  ok  validation        testdata/policies/replica-limit.yaml:27  true 4, false 1            has(object.metadata.labels) && 'team' in object.metadata.labels
  ok  audit annotation  testdata/policies/replica-limit.yaml:32  values 5                   string(object.spec.replicas)

MutatingAdmissionPolicy/team: 1 of 1
  ok  mutation  testdata/policies/team.yaml:13  values 2  Object{metadata: Object.metadata{labels: {'team': request.userInfo.username}}}

ValidatingAdmissionPolicy/old-names: 2 of 2
  ok  validation  testdata/policies/team.yaml:28  true 1, false 1  !object.metadata.name.startsWith('old-')

CustomResourceDefinition/widgets.example.com v1: 4 of 4
  ok  rule             testdata/policies/widgets.yaml:19  true 2, false 1  self.min <= self.max
  ok  transition rule  testdata/policies/widgets.yaml:26  true 2, false 1  self == oldSelf

coverage 100.0%: 16 of 16 results
`, c.String())
	assert.NoError(t, c.Check(100))
}

// What is missing comes first, and fails.
func TestMissingCoverage(t *testing.T) {
	s, err := parse([]byte("name: a\nfiles: [testdata/policies/team.yaml, testdata/policies/widgets.yaml]\nsteps:\n- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"))
	require.NoError(t, err)
	srv := fakeapi.Start(t)
	var c Coverage
	r := (&Player{URL: srv.URL, Coverage: &c}).Play(context.Background(), s)
	require.False(t, r.Failed(), "%s", r)
	assert.EqualError(t, c.Check(50), `coverage: want at least 50%, got 28.6%
CustomResourceDefinition/widgets.example.com v1: 0 of 4
  never evaluated  rule             testdata/policies/widgets.yaml:19  true 0, false 0  self.min <= self.max
  never evaluated  transition rule  testdata/policies/widgets.yaml:26  true 0, false 0  self == oldSelf

ValidatingAdmissionPolicy/old-names: 1 of 2
  never false  validation  testdata/policies/team.yaml:28  true 1, false 0  !object.metadata.name.startsWith('old-')

MutatingAdmissionPolicy/team: 1 of 1
  ok  mutation  testdata/policies/team.yaml:13  values 1  Object{metadata: Object.metadata{labels: {'team': request.userInfo.username}}}

coverage 28.6%: 2 of 7 results
`)
}

// Cover checks what a test of any kind covers.
func TestCover(t *testing.T) {
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [namespaces], operations: [CREATE]}]}
  validations: [{expression: object.metadata.name != 'b'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: a, validationActions: [Deny]}
`
	srv := fakeapi.Start(t, fakeapi.WithObjects(policy))
	create := func(name string) {
		s := &Scenario{Name: "a", Steps: []Step{{
			Create: Objects{{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}},
			Expect: &Expectation{Verdict: map[bool]Verdict{true: Allowed, false: Denied}[name != "b"]},
		}}}
		r := (&Player{URL: srv.URL}).Play(context.Background(), s)
		require.False(t, r.Failed(), "%s", r)
	}
	var tb fakeTB
	Cover(&tb, srv, 100)
	create("a")
	tb.end()
	require.Len(t, tb.failures, 1)
	assert.True(t, strings.HasPrefix(tb.failures[0], "coverage: want at least 100%, got 50.0%\nValidatingAdmissionPolicy/a: 1 of 2\n  never false  validation  spec.validations[0].expression"), tb.failures[0])

	tb = fakeTB{}
	Cover(&tb, srv, 100)
	create("b") // the namespace of the scenario is allowed
	tb.end()
	assert.Empty(t, tb.failures)

	tb = fakeTB{}
	Cover(&tb, fakeapi.Start(t), 0)
	tb.end()
	assert.Equal(t, []string{"coverage: there are no expressions of policies, webhooks and definitions"}, tb.failures)
}

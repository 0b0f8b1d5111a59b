package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Gates decide which values fields of Pods and Leases may have.
func TestGatedValues(t *testing.T) {
	const pods, leases = "/api/v1/namespaces/default/pods", "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	pod := func(spec string) string {
		return `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"i"}],` + spec + `}}`
	}
	toleration := func(value string) string {
		return pod(`"tolerations":[{"key":"k","operator":"Lt","value":"` + value + `"}]`)
	}
	policy := func(name string) string { return pod(`"securityContext":{"seLinuxChangePolicy":"` + name + `"}`) }
	lease := func(strategy string) string {
		return `{"metadata":{"name":"a"},"spec":{"strategy":"` + strategy + `"}}`
	}
	const comparisons, mount, election = "TaintTolerationComparisonOperators", "SELinuxMount", "CoordinatedLeaderElection"
	const integer = `Pod "a" is invalid: [spec.tolerations[0].value: Invalid value: `
	for _, row := range []struct {
		name, gate string
		on         bool
		path, body string
		want       any // the message; nil if the object is created
	}{
		{"comparison", comparisons, true, pods, toleration("-5"), nil},
		{"comparison without the gate", comparisons, false, pods, toleration("5"), `Pod "a" is invalid: spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`},
		{"comparison with a word", comparisons, true, pods, toleration("a"), integer + `"a": must be a valid decimal integer in canonical form, spec.tolerations[0].value: Invalid value: "a": strconv.ParseInt: parsing "a": invalid syntax]`},
		{"comparison with nothing", comparisons, true, pods, toleration(""), integer + `"": must be non-empty, spec.tolerations[0].value: Invalid value: "": strconv.ParseInt: parsing "": invalid syntax]`},
		{"comparison with zeros", comparisons, true, pods, toleration("05"), `Pod "a" is invalid: spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form`},
		{"policy", mount, true, pods, policy("MountOption"), nil},
		{"policy without the gate", mount, false, pods, policy("MountOption"), `Pod "a" is invalid: spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"`},
		{"unknown policy", mount, true, pods, policy("X"), `Pod "a" is invalid: spec.securityContext.seLinuxChangePolicy: Unsupported value: "X": supported values: "MountOption", "Recursive"`},
		{"unknown policy without the gate", mount, false, pods, policy("X"), `Pod "a" is invalid: spec.securityContext.seLinuxChangePolicy: Unsupported value: "X": supported values: "Recursive"`},
		{"unknown strategy", election, true, leases, lease("X"), `Lease.coordination.k8s.io "a" is invalid: spec.strategy.strategy: Unsupported value: "X": supported values: "OldestEmulationVersion"`},
		{"strategy without the gate", election, false, leases, lease("X"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{row.gate: row.on}}))
			_, answer := apitest.Do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, row.want, answer["message"])
		})
	}
}

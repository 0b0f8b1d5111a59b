// Package policies has policies and their tests: scenario files, which "fakeapi play" plays too.
package policies

import (
	"testing"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

// Every validation, match condition and rule is true in one test and false in another.
func TestPolicies(t *testing.T) {
	for _, file := range []string{"replica-limit_test.yaml", "team_test.yaml"} {
		t.Run(file, func(t *testing.T) {
			srv := fakeapi.Start(t)
			scenarios.Cover(t, srv, 100)
			scenarios.Play(t, srv, file)
		})
	}
}

package coordination_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestPrepareLease(t *testing.T) {
	kindtest.TestCreates(t, "leases.coordination.k8s.io", []kindtest.Row{
		{"fields of disabled feature gates", `{"spec":{"holderIdentity":"h","strategy":"OldestEmulationVersion","preferredHolder":"p"}}`, "spec", `{"holderIdentity":"h"}`},
	})
}

func TestValidateLeases(t *testing.T) {
	kindtest.TestValidation(t, "leases.coordination.k8s.io", []kindtest.ValidationRow{
		{"empty", "", `{}`, ""},
		{"numbers", "", `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`, "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]"},
		{"strategy while the feature gate is disabled", "", `{"spec":{"strategy":"None"}}`, ""},
	})
	typ := kindtest.TypeOf(t, "leases.coordination.k8s.io")
	gated := map[string]any{"spec": map[string]any{"strategy": "None", "preferredHolder": "a"}}
	assert.Equal(t, `spec.strategy.strategy: Unsupported value: "None": supported values: "OldestEmulationVersion"`, typ.Validate(gated, object.View{}).Message())
	gated = map[string]any{"spec": map[string]any{"preferredHolder": "a"}}
	assert.Equal(t, "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined", typ.Validate(gated, object.View{}).Message())
}

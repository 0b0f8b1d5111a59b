package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestConditions(t *testing.T) {
	list := validation.Conditions([]any{
		fields{"type": "Ready", "status": "True", "reason": "Ok", "lastTransitionTime": "2024-01-01T00:00:00Z"},
		fields{"type": "Ready", "status": "true", "observedGeneration": int64(-1), "message": strings.Repeat("m", 32<<10+1)},
	}, validation.NewPath("status", "conditions"))
	assert.Equal(t, []string{
		`status.conditions[1]: Duplicate value: "Ready"`,
		`status.conditions[1].status: Unsupported value: "true": supported values: "False", "True", "Unknown"`,
		`status.conditions[1].observedGeneration: Invalid value: -1: must be greater than or equal to zero`,
		`status.conditions[1].lastTransitionTime: Required value`,
		`status.conditions[1].reason: Required value`,
		`status.conditions[1].message: Too long: may not be more than 32768 bytes`,
	}, texts(list))
}

package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Webhooks and policies see preconditions without members, too.
func TestDeleteOptions(t *testing.T) {
	for _, body := range []map[string]any{
		{},
		{"preconditions": map[string]any{}},
		{"preconditions": map[string]any{"uid": "u"}, "dryRun": []any{"All"}},
		{"gracePeriodSeconds": int64(0), "orphanDependents": false, "propagationPolicy": "Orphan"},
	} {
		body["kind"], body["apiVersion"] = "DeleteOptions", "meta.k8s.io/v1"
		assert.Equal(t, body, ParseDeleteOptions(body).object())
	}
}

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

func TestMapTimes(t *testing.T) {
	typ, ok := wire.ForKind("", "v1", "Node")
	require.True(t, ok)
	taint := map[string]any{"key": "old", "timeAdded": "old"}
	node := map[string]any{
		"metadata": map[string]any{"creationTimestamp": "old", "labels": map[string]any{"a": "old"}},
		"spec":     map[string]any{"taints": []any{taint}, "podCIDRs": []any{"old"}},
		"unknown":  "old",
	}
	fields := map[string]bool{}
	got := typ.MapTimes(node, func(field, text string) string {
		fields[field] = true
		return "new"
	})
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"creationTimestamp": "new", "labels": map[string]any{"a": "old"}},
		"spec":     map[string]any{"taints": []any{map[string]any{"key": "old", "timeAdded": "new"}}, "podCIDRs": []any{"old"}},
		"unknown":  "old",
	}, got)
	assert.Equal(t, map[string]bool{"creationTimestamp": true, "timeAdded": true}, fields)
	assert.Equal(t, "old", taint["timeAdded"], "the object is not changed")
	assert.True(t, object.Same(node, typ.MapTimes(node, func(_, text string) string { return text })), "nothing changes")
}

func TestTruncateTime(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		hasFraction      bool
	}{
		{"no fraction", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z", false},
		{"a fraction", "2020-01-02T03:04:05.5Z", "2020-01-02T03:04:05Z", true},
		{"a nanosecond", "2020-01-02T03:04:05.000000001Z", "2020-01-02T03:04:05Z", true},
		{"a comma", "2020-01-02T03:04:05,5Z", "2020-01-02T03:04:05Z", true},
		{"zeros", "2020-01-02T03:04:05.000Z", "2020-01-02T03:04:05.000Z", false},
		{"another time zone", "2020-01-02T04:04:05.5+01:00", "2020-01-02T03:04:05Z", true},
		{"before 1970", "1960-01-02T03:04:05.5Z", "1960-01-02T03:04:05Z", true},
		{"no time", "5.5", "5.5", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, hasFraction := wire.TruncateTime(tt.text)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.hasFraction, hasFraction)
		})
	}
}

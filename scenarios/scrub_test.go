package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSecret(t *testing.T) {
	s, err := ParseSecret("configmaps:data.password")
	require.NoError(t, err)
	assert.Equal(t, Secret{"configmaps", "data.password"}, s)
	for _, wrong := range []string{"", "configmaps", ":data", "configmaps:"} {
		_, err := ParseSecret(wrong)
		assert.Error(t, err, wrong)
	}
}

// An answer may have another value at the place of a secret that the server has made, and
// has the same value wherever the recording has the same placeholder.
func TestMatchScrubbed(t *testing.T) {
	m := newMatcher()
	for _, row := range []struct {
		name, want, got string
		differs         bool
	}{
		{"first", "scrubbed-1", "abc", false},
		{"the same", "scrubbed-1", "abc", false},
		{"another value", "scrubbed-1", "abd", true},
		{"encoded", "c2NydWJiZWQtMQ==", "YWJj", false},
		{"a part of a text", "token: scrubbed-2", "token: abd", false},
	} {
		var d differences
		m.value("body", row.want, row.got, &d)
		assert.Equal(t, row.differs, len(d) > 0, row.name)
	}
}

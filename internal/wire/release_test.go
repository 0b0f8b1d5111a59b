package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForKindIn(t *testing.T) {
	const pod = `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","restartPolicyRules":[{"action":"Restart"}]}]}}`
	for _, tt := range []struct {
		name  string
		minor int
		want  string // the encoded metadata
		known bool   // whether the release has restartPolicyRules
	}{
		{"1.32", 32, `{"name":"a","creationTimestamp":null}`, false},
		{"1.33", 33, `{"name":"a","creationTimestamp":null}`, false},
		{"1.34", 34, `{"name":"a"}`, true},
		{"newest", 0, `{"name":"a"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ, ok := ForKindIn(tt.minor, "", "v1", "Pod")
			require.True(t, ok)
			obj, fieldErrors, err := typ.Decode([]byte(pod), DecodeOptions{Strict: true})
			require.NoError(t, err)
			assert.Contains(t, string(typ.Append(nil, obj)), `"metadata":`+tt.want)
			if tt.known {
				assert.Empty(t, fieldErrors)
			} else {
				require.Len(t, fieldErrors, 1)
				assert.EqualError(t, fieldErrors[0], `unknown field "spec.containers[0].restartPolicyRules"`)
			}
		})
	}
	newest, _ := ForKind("", "v1", "Pod")
	same, _ := ForKindIn(99, "", "v1", "Pod")
	assert.Same(t, newest, same)
}

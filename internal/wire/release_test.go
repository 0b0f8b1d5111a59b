package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A release has the types of its own Go types, also where the newest has none or others.
func TestTypesOfReleases(t *testing.T) {
	for _, tt := range []struct {
		group, version, kind string
		since, until         int
	}{
		{"scheduling.k8s.io", "v1alpha2", "Workload", 36, 37},
		{"scheduling.k8s.io", "v1alpha3", "Workload", 37, 99},
		{"certificates.k8s.io", "v1", "PodCertificateRequest", 37, 99},
		{"certificates.k8s.io", "v1", "CertificateSigningRequest", 0, 99},
	} {
		for _, minor := range []int{35, 36, 37} {
			_, ok := ForKindIn(minor, tt.group, tt.version, tt.kind)
			assert.Equal(t, minor >= tt.since && minor < tt.until, ok, "%s %s in 1.%d", tt.version, tt.kind, minor)
		}
	}
	const slice = `{"spec":{"devices":[{"name":"a","nodeAllocatableResourceMappings":{"cpu":{}}}]}}`
	for minor, unknown := range map[int]int{36: 0, 37: 1} {
		typ, ok := ForKindIn(minor, "resource.k8s.io", "v1", "ResourceSlice")
		require.True(t, ok)
		_, fieldErrors, err := typ.Decode([]byte(slice), DecodeOptions{Strict: true})
		require.NoError(t, err)
		assert.Len(t, fieldErrors, unknown, minor)
	}
}

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

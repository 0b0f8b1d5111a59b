package apiserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fresh server has what kube-apiserver makes beside roles. Each object is
// valid, and has the times of its server.
func TestFreshServer(t *testing.T) {
	s, err := New(Config{})
	require.NoError(t, err)
	defer s.Close()
	for _, want := range []struct {
		group, resource string
		count           int
		name, has       string
	}{
		{"flowcontrol.apiserver.k8s.io", "flowschemas", 11, "probes", `"reason":"Found"`},
		{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", 8, "exempt", `"type":"Exempt"`},
		{"scheduling.k8s.io", "priorityclasses", 2, "system-node-critical", `"value":2000001000`},
		{"apiregistration.k8s.io", "apiservices", 21, "v2.autoscaling", `"versionPriority":30`},
	} {
		t.Run(want.resource, func(t *testing.T) {
			typ := s.Registry().Lookup(want.group, "v1", want.resource)
			count := 0
			for o := range s.store.All(typ.Prefix) {
				count++
				assert.NotContains(t, string(o.JSON()), seedTime)
				assert.Empty(t, typ.Validate(o.Decode(typ), o.Decode(typ)), o.Name)
			}
			assert.Equal(t, want.count, count)
			o := s.store.Newest(typ.Key("", want.name))
			require.NotNil(t, o)
			assert.Contains(t, string(o.JSON()), want.has)
		})
	}
}

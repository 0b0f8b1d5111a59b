package controlplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestModuleText checks the go.mod file of the programs: the modules of the staging folder have the
// version of the release, and etcd the one of its client.
func TestModuleText(t *testing.T) {
	got, err := moduleText([]byte(`{
		"Go": "1.26.0",
		"Require": [
			{"Path": "go.etcd.io/etcd/client/v3", "Version": "v3.7.0"},
			{"Path": "k8s.io/api", "Version": "v0.0.0"},
			{"Path": "k8s.io/klog/v2", "Version": "v2.140.0"}
		],
		"Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}}]
	}`), "v1.38.0-rc.0")
	require.NoError(t, err)
	assert.Equal(t, `module controlplane

go 1.26.0

require k8s.io/kubernetes v1.38.0-rc.0
require k8s.io/component-base v0.38.0-rc.0
require go.etcd.io/etcd/server/v3 v3.7.0
replace k8s.io/api => k8s.io/api v0.38.0-rc.0
`, got)
}

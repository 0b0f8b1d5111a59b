package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEtcdKey(t *testing.T) {
	typ := func(group, name, folder string) *Type {
		return &Type{GroupVersion: GroupVersion{Group: group, Version: "v1"}, Name: name, EtcdFolder: folder}
	}
	for _, tt := range []struct {
		want      string
		typ       *Type
		namespace string
		dryRun    bool
	}{
		{"/registry/configmaps/n/a", typ("", "configmaps", ""), "n", false},
		{"/configmaps/n/a", typ("", "configmaps", ""), "n", true},
		{"/registry/minions/a", typ("", "nodes", ""), "", false},
		{"/registry/services/specs/n/a", typ("", "services", ""), "n", false},
		{"/registry/leases/n/a", typ("coordination.k8s.io", "leases", ""), "n", false},
		{"/registry/apiregistration.k8s.io/apiservices/a", typ("apiregistration.k8s.io", "apiservices", ""), "", false},
		{"/registry/example.com/services/n/a", typ("example.com", "services", "example.com/services"), "n", false},
	} {
		t.Run(tt.want, func(t *testing.T) { assert.Equal(t, tt.want, tt.typ.EtcdKey(tt.namespace, "a", tt.dryRun)) })
	}
}

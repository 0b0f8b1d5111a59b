package apiserver

import (
	"testing"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/stretchr/testify/assert"
)

func TestEtcdKey(t *testing.T) {
	typ := func(group, name string, dynamic bool) *resource.Type {
		return &resource.Type{GroupVersion: resource.GroupVersion{Group: group, Version: "v1"}, Name: name, Dynamic: dynamic}
	}
	for _, tt := range []struct {
		want      string
		typ       *resource.Type
		namespace string
		dryRun    bool
	}{
		{"/registry/configmaps/n/a", typ("", "configmaps", false), "n", false},
		{"/configmaps/n/a", typ("", "configmaps", false), "n", true},
		{"/registry/minions/a", typ("", "nodes", false), "", false},
		{"/registry/services/specs/n/a", typ("", "services", false), "n", false},
		{"/registry/leases/n/a", typ("coordination.k8s.io", "leases", false), "n", false},
		{"/registry/apiregistration.k8s.io/apiservices/a", typ("apiregistration.k8s.io", "apiservices", false), "", false},
		{"/registry/example.com/services/n/a", typ("example.com", "services", true), "n", false},
	} {
		t.Run(tt.want, func(t *testing.T) { assert.Equal(t, tt.want, etcdKey(tt.typ, tt.namespace, "a", tt.dryRun)) })
	}
}

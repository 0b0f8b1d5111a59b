package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMeant(t *testing.T) {
	types := NewTypes([]*Type{
		{GroupVersion: GroupVersion{"", "v1"}, Name: "events", Singular: "event", Kind: "Event", ShortNames: []string{"ev"}},
		{GroupVersion: GroupVersion{"events.k8s.io", "v1"}, Name: "events", Singular: "event", Kind: "Event", ShortNames: []string{"ev"}},
		{GroupVersion: GroupVersion{"networking.k8s.io", "v1"}, Name: "networkpolicies", Singular: "networkpolicy", Kind: "NetworkPolicy", ShortNames: []string{"netpol"}},
	})
	for _, row := range []struct{ name, word, want string }{
		{"singular", "networkpolicy", "networkpolicies"},
		{"kind", "NetworkPolicy", "networkpolicies"},
		{"short name", "netpol", "networkpolicies"},
		{"upper case", "NetworkPolicies", "networkpolicies"},
		{"group", "event.events.k8s.io", "events.events.k8s.io"},
		{"core group", "ev.", "events."},
		{"another group", "netpol.extensions", ""},
		{"unknown", "networks", ""},
		{"nothing", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, types.Meant(row.word))
		})
	}
}

// TestDefinedTypes looks up the types of definitions, two of which define one resource.
func TestDefinedTypes(t *testing.T) {
	typ := func(group, version, name, prefix string) *Type {
		return &Type{GroupVersion: GroupVersion{group, version}, Name: name, Kind: name, Prefix: prefix}
	}
	first, second := typ("g", "v1", "as", "/a/"), typ("g", "v2", "as", "/b/")
	other, hidden := typ("g", "v1", "bs", "/c/"), typ("fixed", "v1", "as", "/d/")
	types := NewTypes([]*Type{typ("fixed", "v1", "bs", "/e/")})
	for _, defined := range []*Type{second, other, first, hidden} {
		types = types.Replace(nil, []*Type{defined})
	}
	for _, row := range []struct {
		name, group, version, resource string
		want                           *Type
	}{
		{"first definition", "g", "v1", "as", first},
		{"second definition", "g", "v2", "as", second},
		{"other resource", "g", "v1", "bs", other},
		{"no such version", "g", "v3", "as", nil},
		{"last resource without the version", "g", "v2", "bs", nil},
		{"no such resource", "g", "v1", "cs", nil},
		{"no such group", "h", "v1", "as", nil},
		{"hidden by a fixed version", "fixed", "v1", "as", nil},
		{"other version of the group of fixed types", "fixed", "v2", "as", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Same(t, row.want, types.Lookup(row.group, row.version, row.resource))
		})
	}
	assert.True(t, types.ServesGroup("g"))
	assert.False(t, types.ServesGroup("f"))
	assert.True(t, types.ServesVersion(GroupVersion{"g", "v2"}))
	assert.False(t, types.ServesVersion(GroupVersion{"g", "v3"}))
}

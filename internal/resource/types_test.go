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

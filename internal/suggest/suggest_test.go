package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSimilar(t *testing.T) {
	known := []Name{
		{Name: "garbage-collector-controller", Aliases: []string{"garbagecollector"}},
		{Name: "horizontal-pod-autoscaler-controller"},
		{Name: "namespace-controller", Aliases: []string{"namespace"}},
		{Name: "pod-garbage-collector-controller", Aliases: []string{"podgc"}},
		{Name: "replicaset-controller"},
		{Name: "replicationcontroller-controller"},
		{Name: "scheduler"},
		{Name: "statefulset-controller"},
		{Name: "PodSecurity"},
		{Name: "NodeRestriction"},
	}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"gc", []string{"garbage-collector-controller"}},
		{"hpa", []string{"horizontal-pod-autoscaler-controller"}},
		{"ns", []string{"namespace-controller"}},
		{"Scheduler", []string{"scheduler"}},
		{"shceduler", []string{"scheduler"}},
		{"garbagecolector", []string{"garbage-collector-controller"}},
		{"collector", []string{"garbage-collector-controller", "pod-garbage-collector-controller"}},
		{"replica", []string{"replicaset-controller", "replicationcontroller-controller"}},
		{"rs", []string{"replicaset-controller"}},
		{"sts", []string{"statefulset-controller"}},
		{"podsecurity", []string{"PodSecurity"}},
		{"security", []string{"PodSecurity"}},
		{"NodeRestrictions", []string{"NodeRestriction"}},
		{"Magic", nil},
		{"x", nil},
		{"", nil},
	} {
		assert.Equal(t, tt.want, Similar(tt.name, known), tt.name)
	}
}

func TestDidYouMean(t *testing.T) {
	assert.Equal(t, "; did you mean RBAC?", DidYouMean("rbac", []string{"Node", "RBAC"}))
	assert.Empty(t, DidYouMean("abc", []string{"Node", "RBAC"}))
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"acb", "abc", 1}, {"ab", "abc", 1}, {"xbc", "abc", 1}, {"kitten", "sitting", 3}} {
		assert.Equal(t, tt.want, Distance(tt.a, tt.b), tt.a)
	}
}

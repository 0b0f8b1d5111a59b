// Package scheduling has the strategies of the scheduling.k8s.io group: PriorityClasses,
// PodGroups, CompositePodGroups and Workloads.
package scheduling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"priorityclasses.scheduling.k8s.io":    priorityClassStrategy,
		"compositepodgroups.scheduling.k8s.io": compositePodGroupStrategy,
		"podgroups.scheduling.k8s.io":          podGroupStrategy,
		"workloads.scheduling.k8s.io":          workloadStrategy,
		"podgroups.scheduling.k8s.io/v1alpha2": alpha2PodGroupStrategy,
		"workloads.scheduling.k8s.io/v1alpha2": alpha2WorkloadStrategy,
	}
}

// Conversions returns the versions of PodGroups and Workloads that are not stored, which have
// the shape of v1beta1. v1alpha2 has another shape, and no release converts it.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	v1alpha3 := resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha3"}
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: v1alpha3, Name: "podgroups"}: {},
		{GroupVersion: v1alpha3, Name: "workloads"}: {},
	}
}

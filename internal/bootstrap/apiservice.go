package bootstrap

import "github.com/kubefake/kubefake/internal/resource"

// A priority is where a group version stands among the others: first by its
// group, then by its version.
type priority struct{ group, version int64 }

// priorities are those that a kube-apiserver of 1.36 gives the group versions
// that it serves itself. Versions that are as good as each other in their groups
// have the same.
var priorities = map[resource.GroupVersion]priority{
	{Version: "v1"}: {18000, 1},
	{Group: "admissionregistration.k8s.io", Version: "v1"}:       {16700, 15},
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}: {16700, 9},
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"}:  {16700, 12},
	{Group: "apiextensions.k8s.io", Version: "v1"}:               {16700, 15},
	{Group: "apps", Version: "v1"}:                               {17800, 15},
	{Group: "authentication.k8s.io", Version: "v1"}:              {17700, 15},
	{Group: "authentication.k8s.io", Version: "v1alpha1"}:        {17700, 1},
	{Group: "authentication.k8s.io", Version: "v1beta1"}:         {17700, 9},
	{Group: "authorization.k8s.io", Version: "v1"}:               {17600, 15},
	{Group: "autoscaling", Version: "v1"}:                        {17500, 15},
	{Group: "autoscaling", Version: "v2"}:                        {17500, 30},
	{Group: "batch", Version: "v1"}:                              {17400, 15},
	{Group: "certificates.k8s.io", Version: "v1"}:                {17300, 15},
	{Group: "certificates.k8s.io", Version: "v1alpha1"}:          {17300, 1},
	{Group: "certificates.k8s.io", Version: "v1beta1"}:           {17300, 9},
	{Group: "coordination.k8s.io", Version: "v1"}:                {16500, 15},
	{Group: "coordination.k8s.io", Version: "v1alpha2"}:          {16500, 12},
	{Group: "coordination.k8s.io", Version: "v1beta1"}:           {16500, 13},
	{Group: "discovery.k8s.io", Version: "v1"}:                   {16200, 15},
	{Group: "events.k8s.io", Version: "v1"}:                      {17750, 15},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}:       {16100, 21},
	{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"}:    {16000, 9},
	{Group: "networking.k8s.io", Version: "v1"}:                  {17200, 15},
	{Group: "networking.k8s.io", Version: "v1beta1"}:             {17200, 9},
	{Group: "node.k8s.io", Version: "v1"}:                        {16300, 15},
	{Group: "policy", Version: "v1"}:                             {17100, 15},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}:          {17000, 15},
	{Group: "resource.k8s.io", Version: "v1"}:                    {16200, 21},
	{Group: "resource.k8s.io", Version: "v1alpha3"}:              {16200, 1},
	{Group: "resource.k8s.io", Version: "v1beta1"}:               {16200, 9},
	{Group: "resource.k8s.io", Version: "v1beta2"}:               {16200, 15},
	{Group: "scheduling.k8s.io", Version: "v1"}:                  {16600, 15},
	{Group: "scheduling.k8s.io", Version: "v1alpha2"}:            {16600, 2},
	{Group: "storage.k8s.io", Version: "v1"}:                     {16800, 15},
	{Group: "storage.k8s.io", Version: "v1alpha1"}:               {16800, 1},
	{Group: "storage.k8s.io", Version: "v1beta1"}:                {16800, 9},
	{Group: "storagemigration.k8s.io", Version: "v1beta1"}:       {15800, 9},
}

// APIServices are the objects that tell of the group versions that a server
// serves itself. That of the group of APIServices has none.
func APIServices(served []resource.GroupVersion) []map[string]any {
	var out []map[string]any
	for _, gv := range served {
		p, ok := priorities[gv]
		if !ok {
			continue
		}
		spec := map[string]any{"version": gv.Version, "groupPriorityMinimum": p.group, "versionPriority": p.version}
		if gv.Group != "" {
			spec["group"] = gv.Group
		}
		out = append(out, map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1",
			"kind":       "APIService",
			"metadata": map[string]any{
				"name":   gv.Version + "." + gv.Group,
				"labels": map[string]any{"kube-aggregator.kubernetes.io/automanaged": "onstart"},
			},
			"spec": spec,
		})
	}
	return out
}

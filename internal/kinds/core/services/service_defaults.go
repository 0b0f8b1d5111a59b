package services

import (
	"github.com/kubefake/kubefake/internal/object"
)

func defaultService(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "sessionAffinity", "None")
	switch spec["sessionAffinity"] {
	case "None":
		object.Remove(spec, "sessionAffinityConfig")
	case "ClientIP":
		if object.Value(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") == nil {
			spec["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
		}
	}
	object.SetDefault(spec, "type", "ClusterIP")
	for port := range object.Each(spec["ports"]) {
		object.SetDefault(port, "protocol", "TCP")
		object.SetDefaultIfZero(port, "targetPort", port["port"])
	}
	if externallyAccessible(object.ViewOf(spec)) {
		object.SetDefault(spec, "externalTrafficPolicy", "Cluster")
	}
	switch spec["type"] {
	case "ClusterIP", "NodePort":
		object.SetDefault(spec, "internalTrafficPolicy", "Cluster")
	case "LoadBalancer":
		object.SetDefault(spec, "internalTrafficPolicy", "Cluster")
		object.SetDefault(spec, "allocateLoadBalancerNodePorts", true)
		for ingress := range object.Each(object.Value(obj, "status", "loadBalancer", "ingress")) {
			if object.String(ingress, "ip") != "" {
				object.SetDefault(ingress, "ipMode", "VIP")
			}
		}
	}
}

package kinds

import "testing"

func TestDefaultNetworking(t *testing.T) {
	testDefaults(t, "networkpolicies.networking.k8s.io", []row{
		{"ingress", `{}`, "spec.policyTypes", `["Ingress"]`},
		{"egress too", `{"spec":{"egress":[{}]}}`, "spec.policyTypes", `["Ingress","Egress"]`},
		{"as it says", `{"spec":{"policyTypes":["Egress"]}}`, "spec.policyTypes", `["Egress"]`},
		{"ports", `{"spec":{"ingress":[{"ports":[{"port":80}]}]}}`, "spec.ingress.0.ports", `[{"port":80,"protocol":"TCP"}]`},
	})
	testDefaults(t, "ingressclasses.networking.k8s.io", []row{
		{"scope", `{"spec":{"parameters":{"kind":"K","name":"n"}}}`, "spec.parameters.scope", `"Cluster"`},
		{"no parameters", `{}`, "spec.parameters", ``},
	})
	testDefaults(t, "endpointslices.discovery.k8s.io", []row{
		{"ports", `{"ports":[{"port":80},{"name":"x","protocol":"UDP"}]}`, "ports", `[{"name":"","port":80,"protocol":"TCP"},{"name":"x","protocol":"UDP"}]`},
	})
}

func TestPrepareEndpointSlice(t *testing.T) {
	const topology = `{"endpoints":[{"addresses":["1.2.3.4"],"deprecatedTopology":{"a":"b"}}]}`
	testCreates(t, "endpointslices.discovery.k8s.io", []row{{"topology", topology, "endpoints", `[{"addresses":["1.2.3.4"],"conditions":{}}]`}})
	testUpdates(t, "endpointslices.discovery.k8s.io", []change{{"topology", `{}`, topology, "endpoints.0.deprecatedTopology", ``}})
}

package networking_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultNetworking(t *testing.T) {
	kindtest.TestDefaults(t, "networkpolicies.networking.k8s.io", []kindtest.Row{
		{"ingress", `{}`, "spec.policyTypes", `["Ingress"]`},
		{"egress", `{"spec":{"egress":[{}]}}`, "spec.policyTypes", `["Ingress","Egress"]`},
		{"explicit policy types", `{"spec":{"policyTypes":["Egress"]}}`, "spec.policyTypes", `["Egress"]`},
		{"ports", `{"spec":{"ingress":[{"ports":[{"port":80}]}]}}`, "spec.ingress.0.ports", `[{"port":80,"protocol":"TCP"}]`},
	})
	kindtest.TestDefaults(t, "ingressclasses.networking.k8s.io", []kindtest.Row{
		{"scope", `{"spec":{"parameters":{"kind":"K","name":"n"}}}`, "spec.parameters.scope", `"Cluster"`},
		{"no parameters", `{}`, "spec.parameters", ``},
	})
}

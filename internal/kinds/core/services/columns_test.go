package services_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "services", []kindtest.CellsRow{
		{"service of node ports", `{spec: {type: NodePort, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30000, protocol: TCP}, {port: 53, protocol: UDP}], selector: {b: c, a: b}}}`,
			[]any{"a", "NodePort", "10.0.0.1", "<none>", "80:30000/TCP,53/UDP", "60m", "a=b,b=c"}},
		{"service without a load balancer", `{spec: {type: LoadBalancer}}`, []any{"a", "LoadBalancer", "<none>", "<pending>", "<none>", "60m", "<none>"}},
		{"service with load balancers", `{spec: {type: LoadBalancer, externalIPs: [9.9.9.9]}, status: {loadBalancer: {ingress: [{hostname: z}, {ip: 1.1.1.1}]}}}`,
			[]any{"a", "LoadBalancer", "<none>", "1.1.1.1,z,9.9.9.9", "<none>", "60m", "<none>"}},
	})
	kindtest.TestCells(t, "endpoints", []kindtest.CellsRow{
		{"endpoints", `{subsets: [{addresses: [{ip: 1.1.1.1}, {ip: "::1"}], ports: [{port: 1}, {port: 2}]}]}`, []any{"a", "1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...", "60m"}},
	})
}

package kinds

import "testing"

func TestDefaultService(t *testing.T) {
	testDefaults(t, "services", []row{
		{"a port", `{"spec":{"ports":[{"port":80}]}}`, "spec", `{"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster"}`},
		{"a named port", `{"spec":{"ports":[{"port":80,"targetPort":"http"}]}}`, "spec.ports.0.targetPort", `"http"`},
		{"a port without a name", `{"spec":{"ports":[{"port":80,"targetPort":""}]}}`, "spec.ports.0.targetPort", `80`},
		{"affinity", `{"spec":{"sessionAffinity":"ClientIP"}}`, "spec.sessionAffinityConfig", `{"clientIP":{"timeoutSeconds":10800}}`},
		{"no affinity", `{"spec":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}}}`, "spec.sessionAffinityConfig", ``},
		{"reachable by node", `{"spec":{"type":"NodePort"}}`, "spec.externalTrafficPolicy", `"Cluster"`},
		{"reachable by address", `{"spec":{"externalIPs":["1.2.3.4"]}}`, "spec.externalTrafficPolicy", `"Cluster"`},
		{"a load balancer", `{"spec":{"type":"LoadBalancer"}}`, "spec.allocateLoadBalancerNodePorts", `true`},
		{"its addresses", `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"h"}]}}}`, "status.loadBalancer.ingress", `[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"h"}]`},
	})
}

func TestCreateService(t *testing.T) {
	families := func(body, policy, families string) []row {
		return []row{{body, body, "spec.ipFamilyPolicy", policy}, {body + " families", body, "spec.ipFamilies", families}}
	}
	var rows []row
	rows = append(rows, families(`{"spec":{}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","selector":{"a":"b"}}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None"}}`, `"RequireDualStack"`, `["IPv4","IPv6"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","ipFamilies":["IPv6"]}}`, `"RequireDualStack"`, `["IPv6","IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","ipFamilyPolicy":"SingleStack"}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"fd::1"}}`, `"SingleStack"`, `["IPv6"]`)...)
	rows = append(rows, families(`{"spec":{"type":"ExternalName"}}`, ``, ``)...)
	rows = append(rows,
		row{"addresses", `{"spec":{"clusterIP":"10.0.0.9"}}`, "spec.clusterIPs", `["10.0.0.9"]`},
		row{"no traffic inside", `{"spec":{"type":"ExternalName","internalTrafficPolicy":"Local"}}`, "spec.internalTrafficPolicy", ``},
		row{"status", `{"spec":{},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`, "status", `{"loadBalancer":{}}`},
	)
	testCreates(t, "services", rows)
}

func TestUpdateService(t *testing.T) {
	const (
		clusterIP = `{"spec":{"clusterIP":"10.0.0.9","ports":[{"name":"a","port":80}]}}`
		nodePort  = `{"spec":{"type":"NodePort","clusterIP":"10.0.0.9","ports":[{"name":"a","port":80,"nodePort":30001},{"name":"b","port":81,"nodePort":30002}]}}`
		balancer  = `{"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.9","externalTrafficPolicy":"Local","healthCheckNodePort":30003,"loadBalancerClass":"a.b/c","ports":[{"port":80,"nodePort":30001}]}}`
		headless  = `{"spec":{"clusterIP":"None"}}`
	)
	testUpdates(t, "services", []change{
		{"addresses are kept", clusterIP, `{"spec":{}}`, "spec.clusterIPs", `["10.0.0.9"]`},
		{"addresses follow the first", clusterIP, `{"spec":{"clusterIP":"10.0.0.10","clusterIPs":["10.0.0.9"]}}`, "spec.clusterIPs", `["10.0.0.10"]`},
		{"addresses that differ are left to validation", clusterIP, `{"spec":{"clusterIP":"10.0.0.10","clusterIPs":["10.0.0.11"]}}`, "spec.clusterIPs", `["10.0.0.11"]`},
		{"addresses go with the type", clusterIP, `{"spec":{"type":"ExternalName","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`, "spec", `{"type":"ExternalName","sessionAffinity":"None"}`},
		{"ports are kept by name", nodePort, `{"spec":{"type":"NodePort","ports":[{"name":"b","port":80},{"name":"a","port":81}]}}`, "spec.ports", `[{"name":"b","port":80,"targetPort":80,"protocol":"TCP","nodePort":30002},{"name":"a","port":81,"targetPort":81,"protocol":"TCP","nodePort":30001}]`},
		{"a port taken over is not kept", nodePort, `{"spec":{"type":"NodePort","ports":[{"name":"a","port":80},{"name":"c","port":81,"nodePort":30001}]}}`, "spec.ports.0.nodePort", ``},
		{"ports go with the type", nodePort, `{"spec":{"type":"ClusterIP","ports":[{"name":"a","port":80,"nodePort":30001}]}}`, "spec.ports.0.nodePort", ``},
		{"a new port is left to validation", nodePort, `{"spec":{"type":"ClusterIP","ports":[{"name":"a","port":80,"nodePort":30009}]}}`, "spec.ports.0.nodePort", `30009`},
		{"what balances goes with the type", balancer, `{"spec":{"type":"ClusterIP","externalTrafficPolicy":"Local","healthCheckNodePort":30003,"loadBalancerClass":"a.b/c","allocateLoadBalancerNodePorts":true}}`, "spec", `{"type":"ClusterIP","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"],"internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None"}`},
		{"the health check's port is kept", balancer, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local"}}`, "spec.healthCheckNodePort", `30003`},
		{"families shrink with the policy", headless, `{"spec":{"clusterIP":"None","ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4","IPv6"]}}`, "spec.ipFamilies", `["IPv4"]`},
		{"the policy is kept", headless, `{"spec":{"clusterIP":"None","selector":{"a":"b"}}}`, "spec.ipFamilyPolicy", `"RequireDualStack"`},
	})
}

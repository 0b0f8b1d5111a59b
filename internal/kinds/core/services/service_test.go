package services_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestTrafficDistributionOfReleases(t *testing.T) {
	for name, want := range map[string]string{
		"v1.33": `spec.trafficDistribution: Unsupported value: "PreferSameZone": supported values: "PreferClose"`,
		"v1.34": "",
	} {
		t.Run(name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, name, "services")
			obj := kindtest.Create(t, typ, `{"spec":{"trafficDistribution":"PreferSameZone","ports":[{"port":1}]}}`)
			assert.Equal(t, want, typ.ValidateAll(context.Background(), obj, object.View{}, nil).Message())
		})
	}
}

// TestMappedClusterIPs checks that the family of an IPv4 address mapped into IPv6 is IPv4, in
// releases that accept such addresses.
func TestMappedClusterIPs(t *testing.T) {
	const mapped = `{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","::ffff:10.0.0.2"],"ipFamilies":["IPv4","IPv6"],"ports":[{"port":1}]}}`
	const value = `Invalid value: "::ffff:10.0.0.2": `
	for name, want := range map[string][]string{
		"1.33": {`spec.clusterIPs: Invalid value: []string{"10.0.0.1", "::ffff:10.0.0.2"}: may specify no more than one IP for each IP family`,
			"spec.clusterIPs[1]: " + value + "expected an IPv6 value as indicated by `ipFamilies[1]`"},
		"1.36": {"spec.clusterIPs[1]: " + value + "must not be an IPv4-mapped IPv6 address"},
	} {
		t.Run(name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, name, "services")
			var got []string
			for _, err := range typ.Validate(kindtest.Decode(t, typ, mapped), object.View{}) {
				if strings.HasPrefix(err.Field, "spec.clusterIPs") {
					got = append(got, err.Error())
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestDefaultService(t *testing.T) {
	kindtest.TestDefaults(t, "services", []kindtest.Row{
		{"port", `{"spec":{"ports":[{"port":80}]}}`, "spec", `{"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster"}`},
		{"named target port", `{"spec":{"ports":[{"port":80,"targetPort":"http"}]}}`, "spec.ports.0.targetPort", `"http"`},
		{"empty target port", `{"spec":{"ports":[{"port":80,"targetPort":""}]}}`, "spec.ports.0.targetPort", `80`},
		{"affinity", `{"spec":{"sessionAffinity":"ClientIP"}}`, "spec.sessionAffinityConfig", `{"clientIP":{"timeoutSeconds":10800}}`},
		{"sessionAffinityConfig without ClientIP", `{"spec":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}}}`, "spec.sessionAffinityConfig", ``},
		{"externalTrafficPolicy of NodePort", `{"spec":{"type":"NodePort"}}`, "spec.externalTrafficPolicy", `"Cluster"`},
		{"externalTrafficPolicy with externalIPs", `{"spec":{"externalIPs":["1.2.3.4"]}}`, "spec.externalTrafficPolicy", `"Cluster"`},
		{"load balancer", `{"spec":{"type":"LoadBalancer"}}`, "spec.allocateLoadBalancerNodePorts", `true`},
		{"ipMode of load balancer addresses", `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"h"}]}}}`, "status.loadBalancer.ingress", `[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"h"}]`},
	})
}

func TestCreateService(t *testing.T) {
	families := func(body, policy, families string) []kindtest.Row {
		return []kindtest.Row{{body, body, "spec.ipFamilyPolicy", policy}, {body + " families", body, "spec.ipFamilies", families}}
	}
	var rows []kindtest.Row
	rows = append(rows, families(`{"spec":{}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","selector":{"a":"b"}}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None"}}`, `"RequireDualStack"`, `["IPv4","IPv6"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","ipFamilies":["IPv6"]}}`, `"RequireDualStack"`, `["IPv6","IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"clusterIP":"None","ipFamilyPolicy":"SingleStack"}}`, `"SingleStack"`, `["IPv4"]`)...)
	rows = append(rows, families(`{"spec":{"type":"ExternalName"}}`, ``, ``)...)
	rows = append(rows,
		kindtest.Row{"clusterIPs from clusterIP", `{"spec":{"clusterIP":"10.0.0.9"}}`, "spec.clusterIPs", `["10.0.0.9"]`},
		kindtest.Row{"internalTrafficPolicy of ExternalName", `{"spec":{"type":"ExternalName","internalTrafficPolicy":"Local"}}`, "spec.internalTrafficPolicy", ``},
		kindtest.Row{"status is reset", `{"spec":{},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`, "status", `{"loadBalancer":{}}`},
	)
	kindtest.TestCreates(t, "services", rows)
}

func TestUpdateService(t *testing.T) {
	const (
		clusterIP    = `{"spec":{"clusterIP":"10.0.0.9","ports":[{"name":"a","port":80}]}}`
		nodePort     = `{"spec":{"type":"NodePort","clusterIP":"10.0.0.9","ports":[{"name":"a","port":80,"nodePort":30001},{"name":"b","port":81,"nodePort":30002}]}}`
		loadBalancer = `{"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.9","externalTrafficPolicy":"Local","healthCheckNodePort":30003,"loadBalancerClass":"a.b/c","ports":[{"port":80,"nodePort":30001}]}}`
		headless     = `{"spec":{"clusterIP":"None"}}`
	)
	kindtest.TestUpdates(t, "services", []kindtest.Change{
		{"clusterIPs are kept", clusterIP, `{"spec":{}}`, "spec.clusterIPs", `["10.0.0.9"]`},
		{"clusterIPs follow clusterIP", clusterIP, `{"spec":{"clusterIP":"10.0.0.10","clusterIPs":["10.0.0.9"]}}`, "spec.clusterIPs", `["10.0.0.10"]`},
		{"type ExternalName drops clusterIPs", clusterIP, `{"spec":{"type":"ExternalName","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`, "spec", `{"type":"ExternalName","sessionAffinity":"None"}`},
		{"node ports are kept by name", nodePort, `{"spec":{"type":"NodePort","ports":[{"name":"b","port":80},{"name":"a","port":81}]}}`, "spec.ports", `[{"name":"b","port":80,"targetPort":80,"protocol":"TCP","nodePort":30002},{"name":"a","port":81,"targetPort":81,"protocol":"TCP","nodePort":30001}]`},
		{"node port moved to another port", nodePort, `{"spec":{"type":"NodePort","ports":[{"name":"a","port":80},{"name":"c","port":81,"nodePort":30001}]}}`, "spec.ports.0.nodePort", `30101`},
		{"type ClusterIP drops node ports", nodePort, `{"spec":{"type":"ClusterIP","ports":[{"name":"a","port":80,"nodePort":30001}]}}`, "spec.ports.0.nodePort", ``},
		{"new node port with type ClusterIP is not dropped", nodePort, `{"spec":{"type":"ClusterIP","ports":[{"name":"a","port":80,"nodePort":30009}]}}`, "spec.ports.0.nodePort", `30009`},
		{"type ClusterIP drops load balancer fields", loadBalancer, `{"spec":{"type":"ClusterIP","externalTrafficPolicy":"Local","healthCheckNodePort":30003,"loadBalancerClass":"a.b/c","allocateLoadBalancerNodePorts":true}}`, "spec", `{"type":"ClusterIP","clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"],"internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None"}`},
		{"healthCheckNodePort is kept", loadBalancer, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local"}}`, "spec.healthCheckNodePort", `30003`},
		{"SingleStack drops the secondary family", headless, `{"spec":{"clusterIP":"None","ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4","IPv6"]}}`, "spec.ipFamilies", `["IPv4"]`},
	})
}

func TestAllocateService(t *testing.T) {
	typ := kindtest.TypeOf(t, "services")
	dual := []string{"IPv4", "IPv6"}
	for _, r := range []struct {
		name, old, body string
		families        []string
		want            string
	}{
		{"SingleStack", "", `{"spec":{}}`, dual, `{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}`},
		{"PreferDualStack on a dual-stack cluster", "", `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`, dual, `{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::2"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"PreferDualStack"}`},
		{"PreferDualStack on a single-stack cluster", "", `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`, dual[:1], `{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"PreferDualStack"}`},
		{"IPv6 first", "", `{"spec":{"ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv6"]}}`, dual, `{"clusterIP":"fd00::1","clusterIPs":["fd00::1","10.0.0.2"],"ipFamilies":["IPv6","IPv4"],"ipFamilyPolicy":"RequireDualStack"}`},
		{"SingleStack to PreferDualStack", `{"spec":{}}`, `{"spec":{"ipFamilyPolicy":"PreferDualStack"}}`, dual, `{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"PreferDualStack"}`},
		{"ExternalName to ClusterIP", `{"spec":{"type":"ExternalName"}}`, `{"spec":{}}`, dual, `{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}`},
		{"same port number for TCP and UDP", "", `{"spec":{"type":"NodePort","clusterIP":"10.0.0.9","ports":[{"name":"a","port":53},{"name":"b","port":53,"protocol":"UDP"}]}}`, dual, `{"ports":[{"name":"a","port":53,"targetPort":53,"protocol":"TCP","nodePort":30101},{"name":"b","port":53,"targetPort":53,"protocol":"UDP","nodePort":30101}]}`},
		{"allocateLoadBalancerNodePorts false", "", `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]}}`, dual, `{"ports":[{"port":80,"targetPort":80,"protocol":"TCP"}]}`},
		{"healthCheckNodePort", "", `{"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.9","externalTrafficPolicy":"Local"}}`, dual, `{"healthCheckNodePort":30101}`},
	} {
		t.Run(r.name, func(t *testing.T) {
			var old map[string]any
			if r.old != "" {
				old = kindtest.Create(t, typ, r.old)
			}
			obj := kindtest.Decode(t, typ, r.body)
			require.NoError(t, typ.Allocate(obj, object.ViewOf(old), kindtest.NewPool(r.families...)))
			want := kindtest.Decode(t, typ, `{"spec":`+r.want+`}`)
			spec := object.Map(obj, "spec")
			for name, v := range object.Map(want, "spec") {
				if v != nil && object.Value(kindtest.Decode(t, typ, `{"spec":{}}`), "spec", name) == nil {
					assert.Equal(t, v, spec[name], name)
				}
			}
		})
	}
}

// A Service that was created through its status has no address, and an update gives it none.
func TestAllocateServiceWithoutAddress(t *testing.T) {
	typ := kindtest.TypeOf(t, "services")
	obj := kindtest.Decode(t, typ, `{"spec":{}}`)
	require.NoError(t, typ.Allocate(obj, object.ViewOf(kindtest.Decode(t, typ, `{"spec":{}}`)), kindtest.NewPool("IPv4")))
	assert.Equal(t, []any{"IPv4"}, object.Value(obj, "spec", "ipFamilies"))
	assert.Nil(t, object.Value(obj, "spec", "clusterIP"))
}

func TestAllocateServiceErrors(t *testing.T) {
	typ := kindtest.TypeOf(t, "services")
	for _, r := range []kindtest.ValidationRow{
		{"clusterIP and clusterIPs differ", `{"spec":{"clusterIP":"10.0.0.9"}}`, `{"spec":{"clusterIP":"10.0.0.10","clusterIPs":["10.0.0.11"]}}`, "spec.clusterIPs: Invalid value: [\"10.0.0.11\"]: first value must match `clusterIP`"},
		{"unconfigured IP family", "", `{"spec":{"ipFamilies":["IPv6"]}}`, `spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`},
		{"cluster IP of an unconfigured family", "", `{"spec":{"clusterIP":"fd::1"}}`, `spec.clusterIPs[0]: Invalid value: ["fd::1"]: IPv6 is not configured on this cluster`},
		{"RequireDualStack on a single-stack cluster", "", `{"spec":{"ipFamilyPolicy":"RequireDualStack"}}`, `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`},
		{"SingleStack with two families", "", `{"spec":{"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4","IPv6"]}}`, `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`},
		{"no free cluster IP", "", `{"spec":{"ports":[{"port":80}]}}`, `spec.clusterIPs: Invalid value: [""]: failed to allocate IP: full`},
		{"duplicate node port", `{"spec":{"type":"NodePort","clusterIP":"None","ports":[{"port":80,"nodePort":30000}]}}`, `{"spec":{"type":"NodePort","clusterIP":"None","ports":[{"port":80,"nodePort":30000},{"port":81,"nodePort":30000}]}}`, `duplicate nodePort: {TCP 30000}`},
		{"node port already allocated", "", `{"spec":{"type":"NodePort","clusterIP":"None","ports":[{"port":80,"nodePort":30000}]}}`, `spec.ports[0].nodePort: Invalid value: 30000: full`},
	} {
		t.Run(r.Name, func(t *testing.T) {
			var old map[string]any
			if r.Old != "" {
				old = kindtest.Create(t, typ, r.Old)
			}
			err := typ.Allocate(kindtest.Decode(t, typ, r.Body), object.ViewOf(old), fullPool{})
			require.Error(t, err)
			assert.Equal(t, r.Want, err.Error())
		})
	}
}

// A fullPool is a resource.Pool with nothing left to allocate.
type fullPool struct{}

func (fullPool) Released(errs validation.List) validation.List { return errs }

func (fullPool) Families() []string { return []string{"IPv4"} }

func (fullPool) IP(_, _ string) (string, error) { return "", errors.New("full") }

func (fullPool) Port(int64) (int64, error) { return 0, errors.New("full") }

func TestValidateServices(t *testing.T) {
	ports := `"ports":[{"port":80}]`
	kindtest.TestValidation(t, "services", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{` + ports + `}}`, ""},
		{"no ports", "", `{"spec":{}}`, "spec.ports: Required value"},
		{"headless", "", `{"spec":{"clusterIP":"None"}}`, ""},
		{"headless NodePort", "", `{"spec":{"type":"NodePort","clusterIP":"None"}}`, "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"},
		{"external name", "", `{"spec":{"type":"ExternalName","externalName":"a.b."}}`, ""},
		{"ExternalName with cluster IPs", "", `{"spec":{"type":"ExternalName","clusterIP":"10.0.0.9","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`, "[spec.clusterIPs: Forbidden: may not be set for ExternalName services, spec.ipFamilies: Forbidden: may not be set for ExternalName services, spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services, spec.externalName: Required value]"},
		{"invalid ports", "", `{"spec":{"ports":[{"port":0,"protocol":"X","targetPort":"A_"},{"name":"b","port":1,"nodePort":30000},{"name":"b","port":1,"appProtocol":"/"}]}}`,
			"[spec.ports[0].name: Required value, spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, spec.ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", \"TCP\", \"UDP\", spec.ports[0].targetPort: Invalid value: \"A_\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), spec.ports[0].targetPort: Invalid value: \"A_\": must contain at least one letter (a-z), spec.ports[2].name: Duplicate value: \"b\", " +
				"spec.ports[2].appProtocol: Invalid value: \"/\": prefix part must be non-empty, spec.ports[2].appProtocol: Invalid value: \"/\": name part must be non-empty, spec.ports[2].appProtocol: Invalid value: \"/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), " +
				"spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP', spec.ports[2]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":1,\"TargetPort\":0,\"NodePort\":0}]"},
		{"duplicate node port", "", `{"spec":{"type":"NodePort","ports":[{"name":"a","port":1,"nodePort":30000},{"name":"b","port":2,"nodePort":30000}]}}`, "spec.ports[1].nodePort: Duplicate value: 30000"},
		{"affinity", "", `{"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86401}},` + ports + `}}`, "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400"},
		{"invalid externalIPs", "", `{"spec":{"externalIPs":["127.0.0.1","a"],` + ports + `}}`, `[spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128), spec.externalIPs[1]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)]`},
		{"load balancer fields of ClusterIP", "", `{"spec":{"loadBalancerSourceRanges":["10.0.0.0/8"],"allocateLoadBalancerNodePorts":true,"loadBalancerClass":"a","externalTrafficPolicy":"Local","healthCheckNodePort":1,` + ports + `}}`,
			"[spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer', spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer', spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer', spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services, spec.healthCheckNodePort: Invalid value: 1: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local']"},
		{"source ranges in the annotation", "", `{"metadata":{"annotations":{"service.beta.kubernetes.io/load-balancer-source-ranges":"10.0.0.0/8, x"}},"spec":{"type":"LoadBalancer",` + ports + `}}`, `metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"invalid traffic policies", "", `{"spec":{"internalTrafficPolicy":"Odd","trafficDistribution":"Odd",` + ports + `}}`, `[spec.internalTrafficPolicy: Unsupported value: "Odd": supported values: "Cluster", "Local", spec.trafficDistribution: Unsupported value: "Odd": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"]`},
		{"changed clusterIP", `{"spec":{"clusterIP":"10.0.0.9",` + ports + `}}`, `{"spec":{"clusterIP":"10.0.0.8","clusterIPs":["10.0.0.8"],` + ports + `}}`, `spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set`},
		{"changed loadBalancerClass", `{"spec":{"type":"LoadBalancer","loadBalancerClass":"a",` + ports + `}}`, `{"spec":{"type":"LoadBalancer","loadBalancerClass":"b",` + ports + `}}`, `spec.loadBalancerClass: Invalid value: "b": may not change once set`},
		{"changed healthCheckNodePort", `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30000,` + ports + `}}`, `{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,` + ports + `}}`, "spec.healthCheckNodePort: Forbidden: field is immutable"},
	})
	kindtest.TestStatusValidation(t, "services", []kindtest.ValidationRow{
		{"ingress of ClusterIP", `{"spec":{}}`, `{"spec":{},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`, "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"},
		{"invalid ingress", `{"spec":{"type":"LoadBalancer"}}`, `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"a","ipMode":"Odd"},{"hostname":"1.2.3.4","ipMode":"VIP"}]}}}`,
			"[status.loadBalancer.ingress[0].ip: Invalid value: \"a\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), status.loadBalancer.ingress[0].ipMode: Unsupported value: \"Odd\": supported values: \"Proxy\", \"VIP\", status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set, status.loadBalancer.ingress[1].hostname: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address]"},
	})
	typ := kindtest.TypeOf(t, "services")
	assert.Equal(t, []string{"spec.externalIPs is deprecated and may no longer be implemented in some clusters", `spec.externalName is ignored when spec.type is not "ExternalName"`, `spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`},
		typ.WarningsOnWrite(kindtest.Decode(t, typ, `{"spec":{"externalIPs":["1.2.3.4"],"externalName":"a","trafficDistribution":"PreferClose"}}`), object.View{}))
}

// TestSharedPorts checks that an update does not change the ports that it shares with the old
// Service.
func TestSharedPorts(t *testing.T) {
	typ := kindtest.TypeOf(t, "services")
	for name, change := range map[string][2]string{
		"node ports of a load balancer": {`{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]}}`, "NodePort"},
		"no node ports any more":        {`{"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30080}]}}`, "ClusterIP"},
	} {
		t.Run(name, func(t *testing.T) {
			old := kindtest.Create(t, typ, change[0])
			before, obj := object.Copy(old), maps.Clone(old)
			object.Own(obj, "spec")["type"] = change[1]
			kindtest.Allocate(t, typ, obj, old)
			kindtest.Prepare(typ, obj, old)
			assert.Equal(t, before, old)
		})
	}
}

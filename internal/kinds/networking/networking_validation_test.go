package networking_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateNetworkPolicy(t *testing.T) {
	const name = "networkpolicies.networking.k8s.io"
	rule := func(rule string) string { return `{"spec":{"ingress":[` + rule + `]}}` }
	kindtest.TestPatched(t, name, `{"metadata":{"name":"a"},"spec":{"podSelector":{}}}`, []kindtest.PatchRow{
		{"selector", `{"spec":{"podSelector":{"matchExpressions":[{"key":"a","operator":"Is"}]}}}`,
			`spec.podSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`},
		{"protocol", rule(`{"ports":[{"protocol":"X"}]}`),
			`spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`},
		{"port number", rule(`{"ports":[{"port":0}]}`),
			`spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`},
		{"port name", rule(`{"ports":[{"port":"a--b"}]}`),
			`spec.ingress[0].ports[0].port: Invalid value: "a--b": must not contain consecutive hyphens`},
		{"end before port quotes the port", rule(`{"ports":[{"port":80,"endPort":79}]}`),
			"spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"},
		{"endPort with a port name", rule(`{"ports":[{"port":"http","endPort":79}]}`),
			"spec.ingress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is non-numeric"},
		{"endPort without port", rule(`{"ports":[{"endPort":79}]}`),
			"spec.ingress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is not specified"},
		{"no peer", rule(`{"from":[{}]}`), `spec.ingress[0].from[0]: Required value: must specify a peer`},
		{"two peers", rule(`{"from":[{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}}]}`),
			`spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer`},
		{"selectors together", rule(`{"from":[{"podSelector":{},"namespaceSelector":{}}]}`), ""},
		{"no network", `{"spec":{"egress":[{"to":[{"ipBlock":{"cidr":""}}]}]}}`, `spec.egress[0].to[0].ipBlock.cidr: Required value`},
		{"no CIDR", rule(`{"from":[{"ipBlock":{"cidr":"10"}}]}`),
			`spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"exception outside", rule(`{"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["11.0.0.0/16","10.0.0.0/8","10.1.0.0/16"]}}]}`), kindtest.Errors(
			"spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
			"spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`")},
		{"type", `{"spec":{"policyTypes":["Ingress","Both"]}}`, `spec.policyTypes[1]: Unsupported value: "Both": supported values: "Ingress", "Egress"`},
		{"types", `{"spec":{"policyTypes":["Ingress","Egress","Both"]}}`,
			`spec.policyTypes: Invalid value: ["Ingress","Egress","Both"]: may not specify more than two policyTypes`},
	})
	kindtest.TestPatchedUpdates(t, name, `{"metadata":{"name":"a"},"spec":{"podSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]},"egress":[{"to":[{"ipBlock":{"cidr":"010.0.0.0/8"}}]}]}}`, []kindtest.PatchRow{
		{"stored CIDR in another rule", rule(`{"from":[{"ipBlock":{"cidr":"010.0.0.0/8"}}]}`), ""},
		{"new ambiguous CIDR", rule(`{"from":[{"ipBlock":{"cidr":"011.0.0.0/8"}}]}`),
			`spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "011.0.0.0/8": must not have leading 0s in IP or prefix length`},
	})
	assert.Equal(t, []string{`spec.egress[0].to[0].ipBlock.except[0]: CIDR value "10.1.1.1/16" is ambiguous in this context (should be "10.1.0.0/16" or "10.1.1.1/32"?)`},
		kindtest.TypeOf(t, name).WarningsOnWrite(kindtest.Decode(t, kindtest.TypeOf(t, name), `{"spec":{"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.1.1/16"]}}]}]}}`), nil))
}

func TestValidateIngress(t *testing.T) {
	const name = "ingresses.networking.k8s.io"
	const base = `{"metadata":{"name":"a"},"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":1}}}}}`
	path := func(path string) string {
		return `{"spec":{"rules":[{"http":{"paths":[` + strings.Replace(path, "}", `,"backend":{"service":{"name":"a","port":{"name":"p"}}}}`, 1) + `]}}]}}`
	}
	kindtest.TestPatched(t, name, base, []kindtest.PatchRow{
		{"no spec", `{"spec":null}`, "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"},
		{"no backend", `{"spec":{"defaultBackend":{"service":null}}}`, `spec.defaultBackend: Invalid value: "": resource or service backend is required`},
		{"two backends", `{"spec":{"defaultBackend":{"resource":{"kind":"K","name":"n"}}}}`,
			`spec.defaultBackend: Invalid value: "": cannot set both resource and service backends`},
		{"resource", `{"spec":{"defaultBackend":{"service":null,"resource":{"kind":"","name":"a/b","apiGroup":"A"}}}}`, kindtest.Errors(
			`spec.defaultBackend.resource.apiGroup: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
			`spec.defaultBackend.resource.kind: Required value`,
			`spec.defaultBackend.resource.name: Invalid value: "a/b": may not contain '/'`)},
		{"no port", `{"spec":{"defaultBackend":{"service":{"name":"","port":null}}}}`, kindtest.Errors(
			`spec.defaultBackend.service.name: Required value`, `spec.defaultBackend: Required value: port name or number is required`)},
		{"two ports", `{"spec":{"defaultBackend":{"service":{"port":{"name":"p"}}}}}`,
			`spec.defaultBackend: Invalid value: "": cannot set both port name & port number`},
		{"host", `{"spec":{"rules":[{"host":"1.2.3.4"},{"host":"*.a.b"},{"host":"a.*"}]}}`, kindtest.Errors(
			`spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
			`spec.rules[2].host: Invalid value: "a.*": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)},
		{"no paths", `{"spec":{"rules":[{"http":{"paths":[]}}]}}`, `spec.rules[0].http.paths: Required value`},
		{"no path type", path(`{"path":"/"}`), `spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified`},
		{"unknown path type", path(`{"path":"x","pathType":"Regex"}`),
			`spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`},
		{"relative", path(`{"pathType":"Prefix"}`), `spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path`},
		{"any path", path(`{"pathType":"ImplementationSpecific"}`), ""},
		{"relative path, ImplementationSpecific", path(`{"path":"x","pathType":"ImplementationSpecific"}`),
			`spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path`},
		{"path parts", path(`{"path":"//%2f/..","pathType":"Exact"}`), kindtest.Errors(
			`spec.rules[0].http.paths[0].path: Invalid value: "//%2f/..": must not contain '//'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "//%2f/..": must not contain '%2f'`,
			`spec.rules[0].http.paths[0].path: Invalid value: "//%2f/..": cannot end with '/..'`)},
		{"other class annotated", `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}},"spec":{"ingressClassName":"y"}}`,
			"annotations.kubernetes.io/ingress.class: Invalid value: \"x\": must match `ingressClassName` when both are specified"},
	})
	kindtest.TestPatchedUpdates(t, name, strings.Replace(base, `"spec":{`, `"spec":{"tls":[{"secretName":"A"}],"rules":[{"host":"*.a.b","http":{"paths":[]}}],`, 1), []kindtest.PatchRow{
		{"another bad secret name", `{"spec":{"tls":[{"secretName":"B"}]}}`, ""},
		{"another bad wildcard rule", `{"spec":{"rules":[{"host":"*.a.c","http":{"paths":[]}}]}}`, ""},
		{"a bad plain rule", `{"spec":{"rules":[{"host":"a.c","http":{"paths":[]}}]}}`, `spec.rules[0].http.paths: Required value`},
	})
	kindtest.TestPatchedStatus(t, name, `{"status":{"loadBalancer":{"ingress":[{"ip":"01.2.3.4"}]}}}`, []kindtest.PatchRow{
		{"new addresses", `{"status":{"loadBalancer":{"ingress":[{"ip":"02.2.3.4"},{"ip":"1.2.3.4","hostname":"1.2.3.4"}]}}}`, kindtest.Errors(
			`status.loadBalancer.ingress[0].ip: Invalid value: "02.2.3.4": must not have leading 0s`,
			`status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`)},
	})
	typ := kindtest.TypeOf(t, name)
	annotated := kindtest.Decode(t, typ, `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}}}`)
	assert.Equal(t, []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`}, typ.WarningsOnWrite(annotated, nil))
	assert.Empty(t, typ.WarningsOnWrite(annotated, annotated))
	assert.Equal(t, []string{`status.loadBalancer.ingress[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`},
		typ.SubresourceStrategies["status"].WarningsOnWrite(kindtest.Decode(t, typ, `{"status":{"loadBalancer":{"ingress":[{"ip":"2001:DB8::1"}]}}}`), nil))
}

func TestValidateIngressClass(t *testing.T) {
	const base = `{"metadata":{"name":"a"},"spec":{"controller":"a.io/b","parameters":{"kind":"K","name":"n"}}}`
	kindtest.TestPatched(t, "ingressclasses.networking.k8s.io", base, []kindtest.PatchRow{
		{"no controller", `{"spec":{"controller":null}}`, `spec.controller: Required value`},
		{"long controller", `{"spec":{"controller":"a.io/` + strings.Repeat("x", 250) + `"}}`, `spec.controller: Too long: may not be more than 250 bytes`},
		{"scope", `{"spec":{"parameters":{"scope":"All"}}}`, `spec.parameters.scope: Unsupported value: "All": supported values: "Cluster", "Namespace"`},
		{"namespace needed", `{"spec":{"parameters":{"scope":"Namespace"}}}`, "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"},
		{"namespace not allowed", `{"spec":{"parameters":{"namespace":"x"}}}`, "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"},
	})
	kindtest.TestPatchedUpdates(t, "ingressclasses.networking.k8s.io", base, []kindtest.PatchRow{
		{"controller", `{"spec":{"controller":"a.io/c"}}`, `spec.controller: Invalid value: "a.io/c": field is immutable`},
	})
}

func TestValidateIPAddress(t *testing.T) {
	const base = `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"resource":"services","namespace":"n","name":"a"}}}`
	kindtest.TestPatched(t, "ipaddresses.networking.k8s.io", base, []kindtest.PatchRow{
		{"no parent", `{"spec":null}`, `spec.parentRef: Required value`},
		{"parts", `{"spec":{"parentRef":{"resource":"a/b","namespace":"%","name":null}}}`, kindtest.Errors(
			`spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
			`spec.parentRef.name: Required value`,
			`spec.parentRef.namespace: Invalid value: "%": may not contain '%'`)},
	})
	kindtest.TestPatchedUpdates(t, "ipaddresses.networking.k8s.io", base, []kindtest.PatchRow{
		{"parent", `{"spec":{"parentRef":{"name":"b"}}}`,
			`spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"n","Name":"b"}: field is immutable`},
	})
}

func TestValidateServiceCIDR(t *testing.T) {
	const base = `{"metadata":{"name":"a"},"spec":{"cidrs":["10.0.0.0/24"]}}`
	kindtest.TestPatched(t, "servicecidrs.networking.k8s.io", base, []kindtest.PatchRow{
		{"no CIDR", `{"spec":{"cidrs":[]}}`, `spec.cidrs: Required value: at least one CIDR required`},
		{"three", `{"spec":{"cidrs":["a","b","c"]}}`, `spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values`},
		{"one family", `{"spec":{"cidrs":["10.0.0.0/24","10.0.1.0/24"]}}`,
			`spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`},
		{"two families", `{"spec":{"cidrs":["10.0.0.0/24","fd00::/112"]}}`, ""},
	})
	kindtest.TestPatchedUpdates(t, "servicecidrs.networking.k8s.io", base, []kindtest.PatchRow{
		{"change", `{"spec":{"cidrs":["10.0.1.0/24"]}}`, `spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable`},
		{"second family", `{"spec":{"cidrs":["10.0.0.0/24","fd00::/112"]}}`, ""},
		{"second of the first family", `{"spec":{"cidrs":["10.0.0.0/24","10.0.1.0/24"]}}`,
			`spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`},
		{"removed spec", `{"spec":null}`, `spec.cidrs: Invalid value: null: field is immutable`},
		{"an empty list", `{"spec":{"cidrs":[]}}`, `spec.cidrs: Invalid value: []: field is immutable`},
	})
}

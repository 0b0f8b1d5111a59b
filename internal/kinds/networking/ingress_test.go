package networking_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

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
	assert.Equal(t, []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`}, typ.WarningsOnWrite(annotated, object.View{}))
	assert.Empty(t, typ.WarningsOnWrite(annotated, object.ViewOf(annotated)))
	assert.Equal(t, []string{`status.loadBalancer.ingress[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`},
		typ.SubresourceStrategies["status"].WarningsOnWrite(kindtest.Decode(t, typ, `{"status":{"loadBalancer":{"ingress":[{"ip":"2001:DB8::1"}]}}}`), object.View{}))
}

package networking_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
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
		{"end before port", rule(`{"ports":[{"port":80,"endPort":79}]}`),
			"spec.ingress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`"},
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
		kindtest.TypeOf(t, name).WarningsOnWrite(kindtest.Decode(t, kindtest.TypeOf(t, name), `{"spec":{"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.1.1/16"]}}]}]}}`), object.View{}))
}

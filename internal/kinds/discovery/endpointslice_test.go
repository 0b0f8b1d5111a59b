package discovery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultEndpointSlices(t *testing.T) {
	kindtest.TestDefaults(t, "endpointslices.discovery.k8s.io", []kindtest.Row{
		{"ports", `{"ports":[{"port":80},{"name":"x","protocol":"UDP"}]}`, "ports", `[{"name":"","port":80,"protocol":"TCP"},{"name":"x","protocol":"UDP"}]`},
	})
}

func TestPrepareEndpointSlice(t *testing.T) {
	const topology = `{"endpoints":[{"addresses":["1.2.3.4"],"deprecatedTopology":{"a":"b"}}]}`
	kindtest.TestCreates(t, "endpointslices.discovery.k8s.io", []kindtest.Row{{"topology", topology, "endpoints", `[{"addresses":["1.2.3.4"],"conditions":{}}]`}})
	kindtest.TestUpdates(t, "endpointslices.discovery.k8s.io", []kindtest.Change{
		{"topology", `{}`, topology, "endpoints.0.deprecatedTopology", ``},
		{"endpoint added", `{"endpoints":[{"addresses":["1.2.3.4"]}]}`, `{"endpoints":[{"addresses":["1.2.3.4"]},{"addresses":["1.2.3.5"]}]}`, "endpoints.1.addresses", `["1.2.3.5"]`},
	})
}

func TestValidateEndpointSlice(t *testing.T) {
	const name = "endpointslices.discovery.k8s.io"
	const base = `{"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}]}`
	endpoint := func(endpoint string) string { return `{"endpoints":[` + endpoint + `]}` }
	kindtest.TestPatched(t, name, base, []kindtest.PatchRow{
		{"no type", `{"addressType":null}`, `addressType: Required value`},
		{"other type", `{"addressType":"IP"}`, `addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"`},
		{"ports", `{"ports":[{"port":1},{"port":2},{"name":"p","protocol":"X","appProtocol":"a b"}]}`, kindtest.Errors(
			`ports[1].name: Duplicate value: ""`,
			`ports[2].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
			`ports[2].appProtocol: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`)},
		{"no protocol", `{"ports":[{"port":1,"protocol":""}]}`, `ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"`},
		{"no address", endpoint(`{"addresses":[]}`), `endpoints[0].addresses: Required value`},
		{"other family", endpoint(`{"addresses":["fd00::1"]}`), `endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address`},
		{"unreachable", endpoint(`{"addresses":["127.0.0.1","0.0.0.0","169.254.0.1","224.0.0.1"]}`), kindtest.Errors(
			`endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`endpoints[0].addresses[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`,
			`endpoints[0].addresses[2]: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`,
			`endpoints[0].addresses[3]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`)},
		{"IPv6", `{"addressType":"IPv6","endpoints":[{"addresses":["10.0.0.1","2001:DB8::1"]}]}`, kindtest.Errors(
			`endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address`,
			`endpoints[0].addresses[1]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")`)},
		{"names", `{"addressType":"FQDN","endpoints":[{"addresses":["a.b","a"]}]}`,
			`endpoints[0].addresses[1]: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		{"hints", endpoint(`{"addresses":["10.0.0.1"],"hints":{"forZones":[{"name":"a"},{"name":"a"}],"forNodes":[{"name":"b"},{"name":"b"}]}}`), kindtest.Errors(
			`endpoints[0].hints.forZones[1].name: Duplicate value: "a"`, `endpoints[0].hints.forNodes[1].name: Duplicate value: "b"`)},
		{"many endpoints", endpoint(strings.Repeat(`{"addresses":["10.0.0.1"]},`, 1000) + `{}`), `endpoints: Too many: 1001: must have at most 1000 items`},
	})
	kindtest.TestPatchedUpdates(t, name, `{"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["127.0.0.1"]}]}`, []kindtest.PatchRow{
		{"unchanged invalid endpoints", `{"ports":[{"port":1}]}`, ""},
		{"type", `{"addressType":"IPv6"}`, `addressType: Invalid value: null: field is immutable`},
	})
	typ := kindtest.TypeOf(t, name)
	slice := kindtest.Decode(t, typ, `{"addressType":"FQDN","endpoints":[{"addresses":["::ffff:1.2.3.4"]}]}`)
	const address = `endpoints[0].addresses[0]: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"`
	assert.Equal(t, []string{"spec.addressType: FQDN endpoints are deprecated", address}, typ.WarningsOnWrite(slice, object.View{}))
	assert.Equal(t, []string{address}, typ.WarningsOnWrite(slice, object.ViewOf(slice)))
	slice["metadata"] = map[string]any{"labels": map[string]any{"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}}
	assert.Empty(t, typ.WarningsOnWrite(slice, object.ViewOf(slice)), "slice of a controller")
}

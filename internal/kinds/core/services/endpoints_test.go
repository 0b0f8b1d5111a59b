package services_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultEndpoints(t *testing.T) {
	kindtest.TestDefaults(t, "endpoints", []kindtest.Row{
		{"default protocol", `{"subsets":[{"ports":[{"port":80},{"port":81,"protocol":"UDP"}]}]}`, "subsets.0.ports", `[{"port":80,"protocol":"TCP"},{"port":81,"protocol":"UDP"}]`},
	})
}

func TestValidateEndpoints(t *testing.T) {
	kindtest.TestValidation(t, "endpoints", []kindtest.ValidationRow{
		{"valid", "", `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`, ""},
		{"empty subset", "", `{"subsets":[{}]}`, "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
		{"invalid addresses", "", `{"subsets":[{"addresses":[{"ip":"0.0.0.0"},{"ip":"127.0.0.1"},{"ip":"fe80::1"},{"ip":"224.0.0.1"}],"notReadyAddresses":[{"ip":"a"}]}]}`,
			`[subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0), subsets[0].addresses[1].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128), ` +
				`subsets[0].addresses[2].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10), subsets[0].addresses[3].ip: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10), ` +
				`subsets[0].notReadyAddresses[0].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), subsets[0].notReadyAddresses[0].ip: Invalid value: "a": must be a valid IP address]`},
		{"invalid ports", "", `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":0,"protocol":"X"},{"name":"b","port":1}]}]}`,
			`[subsets[0].ports[0].name: Required value, subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"]`},
		{"unchanged invalid subset", `{"metadata":{"name":"a","namespace":"n"},"subsets":[{}]}`, `{"metadata":{"name":"a","namespace":"n"},"subsets":[{}]}`, ""},
	})
	typ := kindtest.TypeOf(t, "endpoints")
	odd := `"subsets":[{"addresses":[{"ip":"FD00::1"}]}]`
	assert.Equal(t, []string{`subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`}, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{`+odd+`}`), object.View{}))
	assert.Empty(t, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{"metadata":{"labels":{"endpoints.kubernetes.io/managed-by":"endpoint-controller"}},`+odd+`}`), object.View{}))
}

package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestIP(t *testing.T) {
	p := validation.NewPath("p")
	const notIP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	const notCIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
	runListCases(t, []listCase{
		{"IPv4", validation.IP("10.0.0.1", p), nil},
		{"IPv6", validation.IP("fe80::1", p), nil},
		{"not an address", validation.IP("a", p), []string{`p: Invalid value: "a": ` + notIP}},
		{"with a zone", validation.IP("fe80::1%eth0", p), []string{`p: Invalid value: "fe80::1%eth0": ` + notIP}},
		{"with leading zeros", validation.IP("010.0.0.1", p), []string{`p: Invalid value: "010.0.0.1": must not have leading 0s`}},
		{"mapped", validation.IP("::ffff:1.2.3.4", p), []string{`p: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address`}},
		{"not canonical", validation.IP("FE80:0::1", p), []string{`p: Invalid value: "FE80:0::1": must be in canonical form ("fe80::1")`}},
		{"not canonical in an older field", validation.LegacyIP("FE80:0::1", nil, p), nil},
		{"ambiguous in an older field", validation.LegacyIP("01.2.3.4", nil, p), []string{`p: Invalid value: "01.2.3.4": must not have leading 0s`}},
		{"ambiguous but stored", validation.LegacyIP("01.2.3.4", []string{"01.2.3.4"}, p), nil},

		{"network", validation.CIDR("10.0.0.0/8", p), nil},
		{"network without a prefix", validation.CIDR("10.0.0.0", p), []string{`p: Invalid value: "10.0.0.0": ` + notCIDR}},
		{"network of a prefix too long", validation.CIDR("10.0.0.0/33", p), []string{`p: Invalid value: "10.0.0.0/33": ` + notCIDR}},
		{"network with a sign", validation.CIDR("10.0.0.0/+8", p), []string{`p: Invalid value: "10.0.0.0/+8": ` + notCIDR}},
		{"network with leading zeros", validation.CIDR("10.0.0.0/08", p), []string{`p: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length`}},
		{"network mapped", validation.CIDR("::ffff:10.0.0.0/104", p), []string{`p: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address`}},
		{"network with an address", validation.CIDR("10.0.0.1/8", p), []string{`p: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`}},
		{"network not canonical", validation.CIDR("FE80::/10", p), []string{`p: Invalid value: "FE80::/10": must be in canonical form ("fe80::/10")`}},
		{"network not canonical in an older field", validation.LegacyCIDR("FE80::/10", nil, p), nil},
		{"stored network", validation.LegacyCIDR("10.0.0.1/8", []string{"10.0.0.1/8"}, p), nil},

		{"interface", validation.InterfaceAddress("10.0.0.1/8", p), nil},
		{"interface without a prefix", validation.InterfaceAddress("10.0.0.1", p), []string{`p: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)`}},
		{"interface mapped", validation.InterfaceAddress("::ffff:192.168.0.1/120", p), []string{`p: Invalid value: "::ffff:192.168.0.1/120": must be in canonical form ("192.168.0.1/24")`}},
	})
}

func TestIPWarnings(t *testing.T) {
	p := validation.NewPath("p")
	for _, tc := range []struct {
		name      string
		got, want []string
	}{
		{"canonical", validation.IPWarnings("fe80::1", p), nil},
		{"not an address", validation.IPWarnings("a", p), nil},
		{"leading zeros", validation.IPWarnings("01.2.3.4", p), []string{`p: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"`}},
		{"mapped", validation.IPWarnings("::ffff:1.2.3.4", p), []string{`p: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"`}},
		{"capitals", validation.IPWarnings("FE80::1", p), []string{`p: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")`}},
		{"network canonical", validation.CIDRWarnings("10.0.0.0/8", p), nil},
		{"not a network", validation.CIDRWarnings("a", p), nil},
		{"network with an address", validation.CIDRWarnings("10.0.0.1/8", p), []string{`p: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)`}},
		{"network with leading zeros", validation.CIDRWarnings("10.0.0.0/08", p), []string{`p: non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"`}},
		{"network in capitals", validation.CIDRWarnings("FE80::/10", p), []string{`p: IPv6 CIDR value "FE80::/10" should be in RFC 5952 canonical format ("fe80::/10")`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.got)
		})
	}
}

// FuzzIP checks that stricter rules accept a subset of what laxer ones accept.
func FuzzIP(f *testing.F) {
	for _, s := range []string{"", "10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4", "fe80::1", "10.0.0.0/8", "10.0.0.1/08", "::/0", "::1%lo/128"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(validation.IP(s, nil)) == 0 {
			assert.Empty(t, validation.LegacyIP(s, nil, nil))
			assert.Empty(t, validation.IPWarnings(s, nil))
		}
		if len(validation.CIDR(s, nil)) == 0 {
			assert.Empty(t, validation.LegacyCIDR(s, nil, nil))
			assert.Empty(t, validation.CIDRWarnings(s, nil))
			assert.Empty(t, validation.InterfaceAddress(s, nil))
		}
	})
}

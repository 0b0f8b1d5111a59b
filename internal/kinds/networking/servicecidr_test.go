package networking_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

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

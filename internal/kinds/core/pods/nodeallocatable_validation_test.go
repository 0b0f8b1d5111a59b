package pods_test

import (
	"context"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

// TestValidateAllocatableClaims has the errors of kube-apiserver v1.37.2, and of v1.36 where the status
// has resources in place of mappings.
func TestValidateAllocatableClaims(t *testing.T) {
	const (
		base    = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"resourceClaims":[{"name":"r","resourceClaimName":"claim"}]},"status":{"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"claim"}]}}`
		at      = "status.nodeAllocatableResourceClaimStatuses[0]."
		noName  = `: must be a node allocatable resource name`
		unknown = at + `resourceClaimName: Invalid value: "x": no mapping found in pod reference`
	)
	for _, r := range []struct{ name, release, claims, want string }{
		{"mapping", "v1.37", `{"resourceClaimName":"claim","containers":["c"],"mapping":[{"name":"cpu","quantity":"1"},{"name":"hugepages-2Mi","quantity":"1"}]}`, ``},
		{"overhead", "v1.37", `{"resourceClaimName":"claim","overhead":[{"name":"cpu","perPod":"1","perContainer":"1"}]}`, ``},
		{"claim alone", "v1.37", `{"resourceClaimName":"claim"}`, ``},
		{"unknown container", "v1.37", `{"resourceClaimName":"claim","containers":["zz"]}`, ``},
		{"no claim", "v1.37", `{"mapping":[{"name":"pods","quantity":"-1"}],"overhead":[{"name":"cpu"}]}`, at + `resourceClaimName: Required value`},
		{"unknown claim", "v1.37", `{"resourceClaimName":"x"}`, unknown},
		{"claim twice", "v1.37", `{"resourceClaimName":"claim"},{"resourceClaimName":"claim"}`,
			`status.nodeAllocatableResourceClaimStatuses[1]: Duplicate value: {"resourceClaimName":"claim"}`},
		{"empty mapping", "v1.37", `{"resourceClaimName":"claim","mapping":[{}]}`,
			kindtest.Errors(at+`mapping[0].name: Invalid value: ""`+noName, at+`mapping[0].name: Required value`, at+`mapping[0].quantity: Required value`)},
		{"empty overhead", "v1.37", `{"resourceClaimName":"claim","overhead":[{}]}`,
			kindtest.Errors(at+`overhead[0].name: Invalid value: ""`+noName, at+`overhead[0]: Invalid value: "": at least one of perPod or perContainer must be set`, at+`overhead[0].name: Required value`)},
		{"negative overhead", "v1.37", `{"resourceClaimName":"claim","overhead":[{"name":"cpu","perPod":"-1","perContainer":"-1"}]}`,
			kindtest.Errors(at+`overhead[0].perPod: Invalid value: "-1": must be non-negative`, at+`overhead[0].perContainer: Invalid value: "-1": must be non-negative`)},
		{"lists of others", "v1.37", `{"resourceClaimName":"x","containers":["c","c"],"mapping":[{"name":"pods","quantity":"-1"},{"name":"pods"}],"overhead":[{"name":"example.com/a","perPod":"1"},{"name":"example.com/a","perPod":"1"}]},{"resourceClaimName":"x"}`,
			kindtest.Errors(
				unknown,
				at+`mapping[0].name: Invalid value: "pods"`+noName,
				at+`mapping[0].quantity: Invalid value: "-1": must be non-negative`,
				at+`mapping[1].name: Invalid value: "pods"`+noName,
				at+`overhead[0].name: Invalid value: "example.com/a"`+noName,
				at+`overhead[1].name: Invalid value: "example.com/a"`+noName,
				`status.nodeAllocatableResourceClaimStatuses[1].resourceClaimName: Invalid value: "x": no mapping found in pod reference`,
				`status.nodeAllocatableResourceClaimStatuses[1]: Duplicate value: {"resourceClaimName":"x"}`,
				at+`containers[1]: Duplicate value: "c"`,
				at+`mapping[1]: Duplicate value: {"name":"pods","quantity":null}`,
				at+`mapping[1].quantity: Required value`,
				at+`overhead[1]: Duplicate value: {"name":"example.com/a","perPod":"1"}`,
			)},
		{"resources", "v1.36", `{"resourceClaimName":"claim","containers":["c","c"],"resources":{"cpu":"1","pods":"1"}}`, ``},
		{"resources of others", "v1.36", `{"resourceClaimName":"claim","containers":["c"],"resources":{"cpu":"-1","example.com/a":"1"}}`,
			kindtest.Errors(at+`resources[cpu]: Invalid value: "-1": must be non-negative`, at+`resources[example.com/a]: Invalid value: "example.com/a"`+noName)},
		{"empty", "v1.36", `{}`, kindtest.Errors(
			at+`resourceClaimName: Required value: must not be empty`,
			at+`resourceClaimName: Invalid value: "": no mapping found in pod reference`,
			at+`containers: Required value: must not be empty`,
			at+`resources: Required value: must not be empty`,
		)},
	} {
		t.Run(r.release+" "+r.name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, r.release, "pods")
			status := typ.SubresourceStrategies["status"]
			old := kindtest.Decode(t, typ, base)
			obj := kindtest.Decode(t, typ, kindtest.MergePatch(t, base, `{"status":{"nodeAllocatableResourceClaimStatuses":[`+r.claims+`]}}`))
			status.Prepare(obj, object.ViewOf(old))
			var errs []string
			for _, e := range status.ValidateAll(context.Background(), obj, object.ViewOf(old), nil) {
				errs = append(errs, e.Error())
			}
			if got := kindtest.Errors(errs...); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
		})
	}
}

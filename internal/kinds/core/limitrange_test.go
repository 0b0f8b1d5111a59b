package core_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultLimitRanges(t *testing.T) {
	limits := func(kind string) string {
		return `{"spec":{"limits":[{"type":"` + kind + `","max":{"cpu":"2","memory":"2Gi"},"default":{"cpu":"1"},"min":{"pods":"1"}}]}}`
	}
	kindtest.TestDefaults(t, "limitranges", []kindtest.Row{
		{"default from max", limits("Container"), "spec.limits.0.default", `{"cpu":"1","memory":"2Gi"}`},
		{"defaultRequest from default and min", limits("Container"), "spec.limits.0.defaultRequest", `{"cpu":"1","memory":"2Gi","pods":"1"}`},
		{"no defaults for Pod limits", limits("Pod"), "spec.limits.0.defaultRequest", ``},
	})
}

// unknownResource is the error for a resource name that is unknown and has no prefix.
const unknownResource = "must be a standard resource type or fully qualified"

func TestValidateLimitRanges(t *testing.T) {
	limits := func(item string) string { return `{"spec":{"limits":[` + item + `]}}` }
	kindtest.TestValidation(t, "limitranges", []kindtest.ValidationRow{
		{"valid", "", limits(`{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"2"}}`), ""},
		{"duplicate type", "", limits(`{"type":"Pod"},{"type":"Pod"}`), `spec.limits[1].type: Duplicate value: "Pod"`},
		{"unknown type", "", limits(`{"type":"Node"}`), `spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified`},
		{"unknown resource", "", limits(`{"type":"Pod","max":{"a":"1"}}`), `[spec.limits[0].max[a]: Invalid value: "a": ` + unknownResource + `, spec.limits[0].max[a]: Invalid value: "a": must be a standard resource for containers]`},
		{"defaults in Pod limits", "", limits(`{"type":"Pod","default":{"cpu":"1"},"defaultRequest":{"cpu":"1"}}`), "[spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod', spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod']"},
		{"claim limits without storage", "", limits(`{"type":"PersistentVolumeClaim"}`), "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"},
		{"min above max", "", limits(`{"type":"Pod","max":{"cpu":"1"},"min":{"cpu":"2"}}`), `spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`},
		{"ratio below one", "", limits(`{"type":"Pod","maxLimitRequestRatio":{"cpu":"500m"}}`), `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`},
		{"ratio above max/min", "", limits(`{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"3"}}`), `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`},
		{"huge pages default and request differ", "", limits(`{"type":"Container","default":{"hugepages-2Mi":"4Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}`), `spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`},
	})
}

package resourceapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestResourceSlices(t *testing.T) {
	typ := kindtest.TypeIn(t, "v1.37-all", "resourceslices.resource.k8s.io")
	for _, tt := range []struct{ name, fields, want string }{
		{"skips both", `"skipNodeOperations":["NodePrepareResources","NodeUnprepareResources"]`, ""},
		{"skips all", `"skipNodeOperations":["*","NodePrepareResources"]`, ""},
		{"skips preparing only", `"skipNodeOperations":["NodePrepareResources"]`,
			`spec.skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped`},
		{"skips unknown operations", `"skipNodeOperations":["X","*","*"]`,
			`[spec.skipNodeOperations[2]: Duplicate value: "*", spec.skipNodeOperations[0]: Unsupported value: "X": supported values: "*", "NodePrepareResources", "NodeUnprepareResources"]`},
		{"attribute with several values", `"devices":[{"name":"a","attributes":{"a":{"bool":true,"ints":[2],"string":"x"}}}]`,
			"spec.devices[0].attributes[a]: Invalid value: \"{bool, string, ints}\": must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},`+tt.fields+`}}`)
			assert.Equal(t, tt.want, typ.Validate(obj, object.View{}).Message())
		})
	}
}

func TestSelectSlices(t *testing.T) {
	const slices = "resourceslices.resource.k8s.io"
	slice := map[string]any{"spec": map[string]any{"nodeName": "n", "driver": "d", "pool": map[string]any{"name": "p"}}}
	for release, want := range map[string]map[string]string{
		"v1.37": {"spec.nodeName": "n", "spec.driver": "d", "spec.pool.name": "p"},
		"v1.36": {"spec.nodeName": "n", "spec.driver": "d"},
	} {
		got := map[string]string{}
		for _, f := range kindtest.TypeIn(t, release, slices).SelectableFields {
			got[f.Label] = f.Value(slice)
		}
		assert.Equal(t, want, got, release)
	}
}

// The errors of a range of a capacity, whose default and bounds are whole numbers before v1.37.
func TestCapacityRanges(t *testing.T) {
	const path = "spec.devices[0].capacity[c].requestPolicy.validRange."
	for _, tt := range []struct{ name, release, initial, limits, want string }{
		{"valid", "v1.37", "1", `"min":"1","max":"5","step":"2"`, ""},
		{"default below the minimum", "v1.37", "1", `"min":"2"`, path + `default: Invalid value: "1": default is less than min: 2`},
		{"default below the minimum", "v1.36", "1", `"min":"2"`, path + `min: Invalid value: "1": default is less than min: 2`},
		{"default above the maximum", "v1.37", "4", `"min":"2","max":"3"`, path + `default: Invalid value: "4": default is more than max: 3`},
		{"default above the maximum", "v1.36", "4", `"min":"2","max":"3"`, path + `max: Invalid value: "4": default is more than max: 3`},
		{"no step", "v1.37", "2", `"min":"2","step":"0"`, path + `step: Invalid value: "0": must be greater than zero`},
		{"negative minimum", "v1.37", "2", `"min":"-2","step":"1"`, path + `min: Invalid value: "-2": must be greater than or equal to 0`},
		{"rounded fractions", "v1.37", "1500m", `"min":"1","max":"2","step":"500m"`, ""},
		{"fractions", "v1.37", "1500m", `"min":"1","max":"2","step":"500m"`, ""},
		{"fractions beside the steps", "v1.37", "1600m", `"min":"1","step":"500m"`, path + `step: Invalid value: "1600m": value is not a multiple of a given step (500m) from (1)`},
		{"fractions of thousandths", "v1.37", "1", `"min":"1","step":"500u"`, path + `step: Invalid value: "500u": value cannot be represented as a milli value`},
		{"long step", "v1.37", "2", `"min":"2","step":"9"`, path + `step: Invalid value: "9": one step 11 is larger than capacity value: 10`},
	} {
		t.Run(tt.name+" "+tt.release, func(t *testing.T) {
			typ := kindtest.TypeIn(t, tt.release+"-all", "resourceslices.resource.k8s.io")
			if strings.HasPrefix(tt.name, "fractions") {
				typ = kindtest.TypeWith(t, "resourceslices.resource.k8s.io", map[string]bool{"DRAFractionalCapacityRange": true})
			}
			obj := kindtest.Decode(t, typ, `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},"devices":[{"name":"a","allowMultipleAllocations":true,
				"capacity":{"c":{"value":"10","requestPolicy":{"default":"`+tt.initial+`","validRange":{`+tt.limits+`}}}}}]}}`)
			assert.Equal(t, tt.want, typ.Validate(obj, object.View{}).Message())
		})
	}
}

// The texts and the limits of declarative validation.
func TestDeclaredDevices(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, tt := range []struct{ name, resource, subresource, obj, want string }{
		{"name of counters", "resourceslices", "", `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},"sharedCounters":[{"name":"` + long + `","counters":{"x":{"value":"1"}}}]}}`,
			`spec.sharedCounters[0].name: Invalid value: "` + long + `": must be no more than 63 bytes`},
		{"empty list of an attribute", "resourceslices", "", `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},"devices":[{"name":"a","attributes":{"a":{"ints":[]}}}]}}`,
			"[spec.devices[0].attributes[a].ints: Invalid value: []: must not be empty if specified, spec.devices[0].attributes[a]: Invalid value: \"\": must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`]"},
		{"attribute without a domain", "resourceclaims", "", `{"spec":{"devices":{"constraints":[{"matchAttribute":"` + long + `"}]}}}`,
			`[spec.devices.constraints[0].matchAttribute: Too long: may not be more than 32 bytes, spec.devices.constraints[0].matchAttribute: Invalid value: "` + long + `": a fully qualified name must be a domain and a name separated by a slash]`},
		{"toleration of an allocation", "resourceclaims", "status", `{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}},"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"d","tolerations":[{"key":"k","operator":"X"}]}]}}}}`,
			`status.allocation.devices.results[0].tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, "v1.37-all", tt.resource+".resource.k8s.io")
			obj := kindtest.Decode(t, typ, tt.obj)
			if tt.subresource != "" {
				assert.Equal(t, tt.want, typ.SubresourceStrategies[tt.subresource].Validate(obj, object.ViewOf(kindtest.Decode(t, typ, `{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}`))).Message())
				return
			}
			assert.Equal(t, tt.want, typ.Validate(obj, object.View{}).Message())
		})
	}
	typ := kindtest.TypeIn(t, "v1.37-all", "resourceslices.resource.k8s.io")
	obj := kindtest.Decode(t, typ, `{"spec":{"driver":"d.example.com","allNodes":true,"pool":{"generation":1,"name":"b","resourceSliceCount":1},"devices":[`+
		strings.Repeat(`{"name":"a","attributes":{"a":{"ints":[1]}}},`, 64)+`{"name":"b"}]}}`)
	assert.Equal(t, "spec.devices: Too many: 65: must have at most 64 items", typ.Validate(obj, object.View{}).Message())
}

package nodes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultNodes(t *testing.T) {
	kindtest.TestDefaults(t, "nodes", []kindtest.Row{
		{"allocatable from capacity", `{"status":{"capacity":{"cpu":"1.0001"}}}`, "status.allocatable", `{"cpu":"1001m"}`},
		{"podCIDRs from podCIDR", `{"spec":{"podCIDR":"10.1.0.0/24"}}`, "spec.podCIDRs", `["10.1.0.0/24"]`},
		{"podCIDR from podCIDRs", `{"spec":{"podCIDRs":["10.1.0.0/24","fd::/64"]}}`, "spec.podCIDR", `"10.1.0.0/24"`},
	})
}

func TestPrepareNode(t *testing.T) {
	kindtest.TestCreates(t, "nodes", []kindtest.Row{
		{"status is kept", `{"status":{"phase":"Running"}}`, "status.phase", `"Running"`},
		{"allocatable without resources", `{"status":{"capacity":{"cpu":"1"},"allocatable":{}}}`, "status.allocatable", `{"cpu":"1"}`},
		{"configSource is dropped", `{"spec":{"configSource":{"configMap":{"name":"m"}}}}`, "spec.configSource", ``},
	})
	kindtest.TestUpdates(t, "nodes", []kindtest.Change{
		{"status is unchanged", `{"status":{"phase":"Running"}}`, `{"status":{"phase":"Pending"}}`, "status.phase", `"Running"`},
	})
}

func TestNodeStatus(t *testing.T) {
	typ := kindtest.TypeOf(t, "nodes")
	old := kindtest.Create(t, typ, `{"spec":{"providerID":"p"}}`)
	obj := kindtest.Decode(t, typ, `{"spec":{"providerID":"q"},"status":{"phase":"Running","config":{"error":"e"}}}`)
	typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
	assert.Equal(t, "p", kindtest.At(obj, "spec.providerID"))
	assert.Equal(t, "Running", kindtest.At(obj, "status.phase"))
	assert.Nil(t, kindtest.At(obj, "status.config"))
}

func TestValidateNodes(t *testing.T) {
	update := func(rest string) string { return `{"metadata":{"name":"a"},` + rest + `}` }
	kindtest.TestValidation(t, "nodes", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]},"status":{"capacity":{"cpu":"1"}}}`, ""},
		{"taints", "", `{"spec":{"taints":[{"key":"a","value":"-","effect":"No"},{"key":"a","effect":"No"}]}}`,
			`[metadata.taints[0].value: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), ` +
				`metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute", metadata.taints[1].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute", ` +
				`metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"No","TimeAdded":null}: taints must be unique by key and effect pair]`},
		{"annotation of taints", "", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/taints":"[{\"key\":\"a\",\"effect\":\"No\"}]"}}}`,
			`metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		{"annotation of taints of another type", "", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/taints":"[{\"effect\":1}]"}}}`,
			`metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal number into Go struct field Taint.Effect of type core.TaintEffect`},
		{"annotation of a taint with a number as time", "", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/taints":"[{\"timeAdded\":1}]"}}}`,
			`metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal number into Go struct field Taint.TimeAdded of type string`},
		{"annotation of avoided pods", "", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":"{\"preferAvoidPods\":[{},{\"podSignature\":{\"podController\":{\"controller\":false}}}]}"}}}`,
			`[metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value, ` +
				`metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[1].PodSignature.PodController.Controller: Invalid value: false: must point to a controller]`},
		{"annotation of avoided pods of another type", "", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":"[]"}}}`,
			`metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": json: cannot unmarshal array into Go value of type v1.AvoidPods`},
		{"fractional pods in capacity", "", `{"status":{"capacity":{"pods":"100m"}}}`, `[status.capacity.pods: Invalid value: "100m": must be an integer, status.allocatable.pods: Invalid value: "100m": must be an integer]`},
		{"two podCIDRs of one IP family", "", `{"spec":{"podCIDRs":["10.0.0.0/24","10.0.1.0/24"]}}`, `spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family`},
		{"podCIDRs of which one is none", "", `{"spec":{"podCIDRs":["10.0.0.1/24","x"]}}`, `[spec.podCIDRs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length, spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64), ` +
			`spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x), spec.podCIDRs: Invalid value: ["10.0.0.1/24","x"]: may specify no more than one CIDR for each IP family]`},
		{"declared features", "", `{"status":{"declaredFeatures":["B","A","A","a"]}}`, `[status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically, status.declaredFeatures[2]: Duplicate value: "A", ` +
			`status.declaredFeatures[3]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes]`},
		{"swap", "", `{"status":{"nodeInfo":{"swap":{"capacity":0}}}}`, "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"},
		{"changed immutable fields", `{"metadata":{"name":"a"},"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","externalID":"e"}}`, update(`"spec":{"providerID":"q"}`),
			`[spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid, spec.providerID: Invalid value: null: field cannot be modified once set, spec.externalID: Forbidden: may not be updated]`},
	})
	kindtest.TestStatusValidation(t, "nodes", []kindtest.ValidationRow{
		{"duplicate address", `{}`, `{"status":{"addresses":[{"type":"t","address":"a"},{"type":"t","address":"a"}]}}`, `status.addresses[1]: Duplicate value: {"Type":"t","Address":"a"}`},
	})
	typ := kindtest.TypeOf(t, "nodes")
	assert.Equal(t, []string{"spec.externalID: this field is deprecated, and is unused by Kubernetes"}, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{"spec":{"externalID":"e"}}`), object.View{}))
}

func TestValidatePreemptionPolicies(t *testing.T) {
	typ := kindtest.TypeWith(t, "nodes", map[string]bool{"InPlacePodVerticalScalingSchedulerPreemption": true})
	node := func(keys string) map[string]any {
		return kindtest.Decode(t, typ, `{"metadata":{"name":"a"},"spec":{"podPreemptionPolicy":{"disableResizePreemption":[`+keys+`]}}}`)
	}
	for _, tt := range []struct{ name, keys, want string }{
		{"keys", `"a","-","a"`, `[spec.podPreemptionPolicy.disableResizePreemption[1]: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.podPreemptionPolicy.disableResizePreemption[2]: Duplicate value: "a"]`},
		{"too many keys", strings.Repeat(`"a",`, 20) + `"b"`, `spec.podPreemptionPolicy.disableResizePreemption: Too many: 21: must have at most 20 items`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, typ.Validate(node(tt.keys), object.View{}).Message())
			assert.Empty(t, typ.Validate(node(tt.keys), object.ViewOf(node(tt.keys))), "unchanged")
		})
	}
}

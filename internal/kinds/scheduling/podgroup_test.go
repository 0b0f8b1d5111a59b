package scheduling_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultPodGroup(t *testing.T) {
	kindtest.TestDefaults(t, "podgroups.scheduling.k8s.io", []kindtest.Row{
		{"default mode", `{}`, "spec.disruptionMode", `{"single":{}}`},
		{"explicit mode", `{"spec":{"disruptionMode":{"all":{}}}}`, "spec.disruptionMode", `{"all":{}}`},
	})
}

const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

func TestValidatePodGroup(t *testing.T) {
	const name, valid = "podgroups.scheduling.k8s.io", `{"metadata":{"name":"a"},"spec":{"schedulingPolicy":{"basic":{}}}}`
	claims := func(elements string) string { return `{"spec":{"resourceClaims":[` + elements + `]}}` }
	kindtest.TestPatched(t, name, valid, []kindtest.PatchRow{
		{"wrong parent without a workload", `{"spec":{"parentCompositePodGroupName":"A b"}}`, kindtest.Errors("spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set", `spec.parentCompositePodGroupName: Invalid value: "A b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`)},
		{"no policy", `{"spec":{"schedulingPolicy":{"basic":null}}}`, "spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{"two policies", `{"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}}`, "spec.schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, `gang`"},
		{"no minCount", `{"spec":{"schedulingPolicy":{"basic":null,"gang":{}}}}`, "spec.schedulingPolicy.gang.minCount: Required value"},
		{"negative minCount", `{"spec":{"schedulingPolicy":{"basic":null,"gang":{"minCount":-1}}}}`, "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"},
		{"two keys of a topology", `{"spec":{"schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]}}}`, "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{"empty key of a topology", `{"spec":{"schedulingConstraints":{"topology":[{"key":""}]}}}`, "spec.schedulingConstraints.topology[0].key: Required value"},
		{"claim", claims(`{"name":"a","resourceClaimName":"b"}`), ""},
		{"claim without a name", claims(`{"resourceClaimName":"b"}`), "spec.resourceClaims[0].name: Required value"},
		{"claim of nothing", claims(`{"name":"A"}`), kindtest.Errors("spec.resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
			`spec.resourceClaims[0].name: Invalid value: "A": `+label)},
		{"too many claims", claims(`{},{},{},{},{}`), "spec.resourceClaims: Too many: 5: must have at most 4 items"},
		{"no mode", `{"spec":{"disruptionMode":{"single":null}}}`, "spec.disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{"two modes", `{"spec":{"disruptionMode":{"single":{},"all":{}}}}`, "spec.disruptionMode: Invalid value: \"{single, all}\": must specify exactly one of: `single`, `all`"},
		{"priority", `{"spec":{"priority":1000000001}}`, "spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000"},
		{"template without names", `{"spec":{"workloadRef":{}}}`, kindtest.Errors("spec.workloadRef.workloadName: Required value", "spec.workloadRef.templateName: Required value")},
	})
	kindtest.TestPatchedUpdates(t, name, valid, []kindtest.PatchRow{
		{"labels", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"fields", `{"spec":{"disruptionMode":{"single":null,"all":{}},"priority":5}}`, kindtest.Errors("spec.disruptionMode: Invalid value: null: field is immutable", "spec.priority: Invalid value: null: field is immutable")},
		{"too many claims", claims(`{},{},{},{},{}`), kindtest.Errors("spec.resourceClaims: Invalid value: null: field is immutable", "spec.resourceClaims: Too many: 5: must have at most 4 items")},
	})
}

func TestValidateWorkload(t *testing.T) {
	const name, valid = "workloads.scheduling.k8s.io", `{"metadata":{"name":"a"},"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}`
	kindtest.TestPatched(t, name, valid, []kindtest.PatchRow{
		{"no templates", `{"spec":{"podGroupTemplates":[]}}`, "spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`"},
		{"template without a name", `{"spec":{"podGroupTemplates":[{"schedulingPolicy":{"basic":{}}}]}}`, "spec.podGroupTemplates[0].name: Required value"},
		{"mode of a template", `{"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}},"disruptionMode":{}}]}}`, "spec.podGroupTemplates[0].disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{"empty controller", `{"spec":{"controllerRef":{}}}`, kindtest.Errors("spec.controllerRef.kind: Required value", "spec.controllerRef.name: Required value")},
		{"kind of the controller", `{"spec":{"controllerRef":{"kind":"a/b","name":"n"}}}`, `spec.controllerRef.kind: Invalid value: "a/b": may not contain '/'`},
	})
	kindtest.TestPatchedUpdates(t, name, valid, []kindtest.PatchRow{
		{"no templates", `{"spec":{"podGroupTemplates":[]}}`, kindtest.Errors("spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`", "spec.podGroupTemplates: Forbidden: item may not be removed")},
		{"controller", `{"spec":{"controllerRef":{"kind":"a/b","name":"n"}}}`, "spec.controllerRef: Invalid value: null: field is immutable"},
	})
}

func TestValidatePodGroupStatus(t *testing.T) {
	typ := kindtest.TypeOf(t, "podgroups.scheduling.k8s.io")
	validate := typ.SubresourceStrategies["status"].Validate
	for _, row := range []struct{ name, status, want string }{
		{"claim", `{"resourceClaimStatuses":[{"name":"a","resourceClaimName":"b"}]}`, ""},
		{"empty name", `{"resourceClaimStatuses":[{"name":"a","resourceClaimName":""}]}`, "status.resourceClaimStatuses[0].resourceClaimName: Invalid value: \"\""},
		{"another claim", `{"resourceClaimStatuses":[{"name":"z"}]}`, "status.resourceClaimStatuses[0].name: Invalid value: \"z\": must match the name of an entry in `spec.resourceClaims`"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"spec":{"resourceClaims":[{"name":"a","resourceClaimName":"b"}]},"status":`+row.status+`}`)
			errs := validate(obj, object.ViewOf(obj))
			if row.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.Contains(t, errs[0].Error(), row.want)
		})
	}
}

func TestValidateCompositePodGroups(t *testing.T) {
	group := func(spec string) string { return `{"metadata":{"name":"g"},"spec":{` + spec + `}}` }
	const ref = `"workloadRef":{"workloadName":"w","templateName":"t"}`
	valid := group(ref + `,"schedulingPolicy":{"gang":{"minGroupCount":1}}`)
	kindtest.TestValidation(t, "compositepodgroups.scheduling.k8s.io", []kindtest.ValidationRow{
		{"valid", "", valid, ""},
		{"empty", "", group(""), "[spec.workloadRef: Required value, spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`]"},
		{"no count", "", group(ref + `,"schedulingPolicy":{"gang":{}}`), "spec.schedulingPolicy.gang.minGroupCount: Required value"},
		{"modes", "", group(ref + `,"schedulingPolicy":{"basic":{}},"disruptionMode":{"single":{},"all":{}}`), "spec.disruptionMode: Invalid value: \"{single, all}\": must specify exactly one of: `single`, `all`"},
		{"parent without a workload", "", group(`"parentCompositePodGroupName":"p","schedulingPolicy":{"basic":{}}`), "spec.workloadRef: Required value"},
		{"other count", valid, group(ref + `,"schedulingPolicy":{"gang":{"minGroupCount":2}}`), "spec.schedulingPolicy: Invalid value: null: field is immutable"},
	})
}

func TestWorkloadsOfNewestRelease(t *testing.T) {
	typ := kindtest.TypeIn(t, "v1.37-all", "workloads.scheduling.k8s.io")
	workload := func(spec string) map[string]any {
		return kindtest.Create(t, typ, `{"metadata":{"name":"w"},"spec":{`+spec+`}}`)
	}
	template := func(name, count string) string {
		return `"podGroupTemplates":[{"name":"` + name + `","schedulingPolicy":{"gang":{"minCount":` + count + `}}}]`
	}
	composite := func(name, fields, templates string) string {
		return `"compositePodGroupTemplates":[{"name":"` + name + `",` + fields + `"schedulingPolicy":{"basic":{}},` + templates + `}]`
	}
	valid := workload(template("a", "2"))
	for _, tt := range []struct {
		name     string
		obj, old map[string]any
		want     string
	}{
		{"valid", valid, nil, ""},
		{"empty", workload(""), nil, "spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`"},
		{"both", workload(template("a", "2") + `,"compositePodGroupTemplates":[{"name":"c","schedulingPolicy":{"basic":{}}}]`), nil,
			`[spec.compositePodGroupTemplates[0]: Invalid value: "c": must have at least one child PodGroupTemplate or CompositePodGroupTemplate, ` +
				"spec: Invalid value: \"{podGroupTemplates, compositePodGroupTemplates}\": must specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`]"},
		{"two names in a list", workload(`"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}},{"name":"a","schedulingPolicy":{"basic":{}}}]`), nil,
			`spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}`},
		{"names in two lists", workload(composite("a", "", template("a", "2"))), nil, `spec.compositePodGroupTemplates[0].podGroupTemplates[0].name: Duplicate value: "a"`},
		{"priorities", workload(composite("a", `"priority":1,`, template("b", "2"))), nil,
			"spec: Invalid value: null: all priority and priorityClassName values must be identical, detected multiple values"},
		{"priorities in a list", workload(`"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}},{"name":"b","priority":1,"schedulingPolicy":{"basic":{}}}]`), nil,
			"spec: Invalid value: null: detected multiple priority configurations"},
		{"other count", workload(template("a", "3")), valid, ""},
		{"long name", workload(template(strings.Repeat("a", 64), "2")), nil, `spec.podGroupTemplates[0].name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 bytes`},
		{"other policy", workload(`"podGroupTemplates":[{"name":"a"}]`), valid, "[spec.podGroupTemplates[0].schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`, spec.podGroupTemplates[0].schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set]"},
		{"twice the same template", workload(`"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}},{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}}]`), valid,
			`spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":{"minCount":2}},"schedulingConstraints":null}`},
		{"invalid template beside a controller", workload(`"controllerRef":{"kind":"J","name":"j"},"podGroupTemplates":[{"name":"A"}]`), valid,
			"[spec.controllerRef: Invalid value: null: field is immutable, spec.podGroupTemplates[0]: Forbidden: item may not be added, spec.podGroupTemplates: Forbidden: item may not be removed]"},
		{"no templates", workload(""), workload(`"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}},{"name":"b","schedulingPolicy":{"basic":{}}}]`),
			"[spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`, spec.podGroupTemplates: Forbidden: item may not be removed]"},
		{"other template", workload(template("b", "2")), valid, "[spec.podGroupTemplates[0]: Forbidden: item may not be added, spec.podGroupTemplates: Forbidden: item may not be removed]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, typ.ValidateAll(context.Background(), tt.obj, object.ViewOf(tt.old), nil).Message())
		})
	}
	// Each removed template is an error.
	assert.Len(t, typ.ValidateAll(context.Background(), workload(""), object.ViewOf(workload(`"podGroupTemplates":[{"name":"a"},{"name":"b"}]`)), nil), 3)
	deep := workload(composite("a", "", composite("b", "", composite("c", "", composite("d", "", template("e", "2"))))))
	got := typ.ValidateAll(context.Background(), deep, object.View{}, nil).Message()
	assert.Regexp(t, `^spec\.compositePodGroupTemplates\[0\]: Invalid value: \[\{"Name":"b",.*\}\]: maximum template hierarchy depth is 4$`, got)
}

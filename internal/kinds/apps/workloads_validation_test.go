package apps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

// workload returns a workload with a valid selector and template, and with more in
// its spec.
func workload(more string) string {
	return `{"metadata":{"name":"a","namespace":"n"},"spec":{"selector":{"matchLabels":{"a":"b"}},` + more + kindtest.PodTemplate("Always") + `}}`
}

func TestValidateReplicationController(t *testing.T) {
	base := strings.Replace(workload(""), `{"matchLabels":{"a":"b"}}`, `{"a":"b"}`, 1)
	kindtest.TestPatched(t, "replicationcontrollers", base, []kindtest.PatchRow{
		{"no template", `{"spec":{"selector":null,"template":null}}`, kindtest.Errors(`spec.selector: Required value`, `spec.template: Required value`)},
		{"other selector", `{"spec":{"selector":{"c":"d","e":"f"}}}`,
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{"deadline", `{"spec":{"template":{"spec":{"activeDeadlineSeconds":1}}}}`,
			`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported`},
	})
}

func TestWarnOfTemplates(t *testing.T) {
	const nodeSelector = `{"spec":{"template":{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}}}}`
	const warning = `spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	for _, name := range []string{"deployments.apps", "replicasets.apps", "daemonsets.apps", "statefulsets.apps", "replicationcontrollers", "jobs.batch"} {
		t.Run(name, func(t *testing.T) {
			typ := kindtest.TypeOf(t, name)
			body := kindtest.MergePatch(t, workload(""), nodeSelector)
			if name == "replicationcontrollers" {
				body = kindtest.MergePatch(t, body, `{"spec":{"selector":null}}`)
			}
			obj := kindtest.Create(t, typ, body)
			assert.Contains(t, typ.WarningsOnWrite(obj, object.View{}), warning, "create")
			assert.NotContains(t, typ.WarningsOnWrite(obj, object.ViewOf(obj)), warning, "update without a change")
		})
	}
	typ := kindtest.TypeOf(t, "statefulsets.apps")
	claims := kindtest.Decode(t, typ, kindtest.MergePatch(t, workload(""), `{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"1500m"}}}}]}}`))
	assert.Equal(t, []string{`spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`}, typ.WarningsOnWrite(claims, object.View{}))
}

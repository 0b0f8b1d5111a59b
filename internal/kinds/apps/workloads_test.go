package apps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

const template = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`

func TestDefaultWorkloads(t *testing.T) {
	body := func(members string) string { return `{"spec":{` + members + template + `}}` }
	t.Run("deployments", func(t *testing.T) {
		kindtest.TestDefaults(t, "deployments.apps", []kindtest.Row{
			{"replicas", body(""), "spec.replicas", `1`},
			{"no replicas", body(`"replicas":0,`), "spec.replicas", `0`},
			{"rolling", body(""), "spec.strategy", `{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}`},
			{"rolling partly", body(`"strategy":{"rollingUpdate":{"maxSurge":0}},`), "spec.strategy.rollingUpdate", `{"maxSurge":0,"maxUnavailable":"25%"}`},
			{"not rolling", body(`"strategy":{"type":"Recreate"},`), "spec.strategy", `{"type":"Recreate"}`},
			{"limits", body(""), "spec.progressDeadlineSeconds", `600`},
			{"containers", body(""), "spec.template.spec.containers.0.imagePullPolicy", `"IfNotPresent"`},
			{"enableServiceLinks has no default", body(""), "spec.template.spec.enableServiceLinks", ``},
		})
	})
	t.Run("replicasets", func(t *testing.T) {
		kindtest.TestDefaults(t, "replicasets.apps", []kindtest.Row{{"replicas", body(""), "spec.replicas", `1`}})
	})
	t.Run("statefulsets", func(t *testing.T) {
		kindtest.TestDefaults(t, "statefulsets.apps", []kindtest.Row{
			{"rolling", body(""), "spec.updateStrategy", `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"partition":0}}`},
			{"rolling by name", body(`"updateStrategy":{"type":"RollingUpdate"},`), "spec.updateStrategy", `{"type":"RollingUpdate"}`},
			{"claim retention", body(`"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"},`), "spec.persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Delete","whenScaled":"Retain"}`},
			{"claims", body(`"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{}}],`), "spec.volumeClaimTemplates", `[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"d"},"spec":{"resources":{},"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]`},
		})
	})
	t.Run("daemonsets", func(t *testing.T) {
		kindtest.TestDefaults(t, "daemonsets.apps", []kindtest.Row{
			{"rolling", body(""), "spec.updateStrategy", `{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}`},
			{"not rolling", body(`"updateStrategy":{"type":"OnDelete"},`), "spec.updateStrategy", `{"type":"OnDelete"}`},
			{"rollingUpdate with OnDelete", body(`"updateStrategy":{"type":"OnDelete","rollingUpdate":{"maxUnavailable":2}},`), "spec.updateStrategy.rollingUpdate", `{"maxUnavailable":2,"maxSurge":0}`},
		})
	})
	t.Run("replicationcontrollers", func(t *testing.T) {
		const old = `{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[]}}}}`
		kindtest.TestDefaults(t, "replicationcontrollers", []kindtest.Row{
			{"selector from template labels", old, "spec.selector", `{"a":"b"}`},
			{"labels from template labels", old, "metadata.labels", `{"a":"b"}`},
		})
	})
}

func TestPrepareWorkloads(t *testing.T) {
	const body, generation = `{"spec":{` + template + `}}`, `metadata.annotations.deprecated\.daemonset\.template\.generation`
	annotated := func(n string) string {
		return `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"` + n + `"}},"spec":{` + template + `}}`
	}
	kindtest.TestCreates(t, "deployments.apps", []kindtest.Row{
		{"status is reset", `{"spec":{` + template + `},"status":{"replicas":3}}`, "status", `{}`},
	})
	kindtest.TestCreates(t, "statefulsets.apps", []kindtest.Row{
		{"status has required fields", body, "status", `{"replicas":0,"availableReplicas":0}`},
		{"maxUnavailable", `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}},` + template + `}}`, "spec.updateStrategy.rollingUpdate", `{"maxUnavailable":2,"partition":0}`},
	})
	kindtest.TestCreates(t, "daemonsets.apps", []kindtest.Row{
		{"first template", body, generation, `"1"`},
		{"template generation from annotation", annotated("7"), generation, `"7"`},
		{"negative template generation", annotated("-7"), generation, `"1"`},
	})
	kindtest.TestUpdates(t, "daemonsets.apps", []kindtest.Change{
		{"same template", annotated("7"), annotated("1"), generation, `"7"`},
		{"changed template", body, `{"spec":{"template":{"spec":{"containers":[]}}}}`, generation, `"2"`},
	})
}

// Some kinds compare before they drop the fields of disabled feature gates, and some
// treat an empty list as different from an absent one.
func TestIncrementedGeneration(t *testing.T) {
	for _, tt := range []struct {
		name, resource, body, next string
		incremented                bool
	}{
		{"an empty list", "deployments.apps", `{"spec":{` + template + `}}`, `{"spec":{"template":{"spec":{"imagePullSecrets":[],"nodeSelector":{}}}}}`, false},
		{"an empty struct", "deployments.apps", `{"spec":{` + template + `}}`, `{"spec":{"template":{"spec":{"affinity":{}}}}}`, true},
		{"an empty list of a policy", "networkpolicies.networking.k8s.io", `{"spec":{"podSelector":{}}}`, `{"spec":{"podSelector":{"matchLabels":{}}}}`, true},
		{"the same policy", "networkpolicies.networking.k8s.io", `{"spec":{"podSelector":{}}}`, `{}`, false},
		{"dropped field", "endpointslices.discovery.k8s.io", `{"addressType":"IPv4","endpoints":[]}`, `{"endpoints":[{"addresses":["10.0.0.1"]}]}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := kindtest.TypeOf(t, tt.resource)
			old, _, err := typ.Codec.Decode(typ.Codec.Append(nil, kindtest.Create(t, typ, tt.body)), true)
			require.NoError(t, err)
			next := kindtest.Decode(t, typ, kindtest.MergePatch(t, tt.body, tt.next))
			object.Keep(next, object.ViewOf(old), "status")
			assert.Equal(t, tt.incremented, typ.Generation(next, object.ViewOf(old)))
		})
	}
	assert.True(t, kindtest.TypeOf(t, "endpointslices.discovery.k8s.io").GenerationBeforePrepare)
	assert.True(t, kindtest.TypeOf(t, "resourceslices.resource.k8s.io").GenerationBeforePrepare)
}

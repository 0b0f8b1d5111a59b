package apps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestValidateStatefulSet(t *testing.T) {
	const name = "statefulsets.apps"
	base := workload(`"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],`)
	kindtest.TestPatched(t, name, base, []kindtest.PatchRow{
		{"policies", `{"spec":{"podManagementPolicy":"X","persistentVolumeClaimRetentionPolicy":{"whenScaled":"Y"}}}`, kindtest.Errors(
			`spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel'`,
			`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Y": supported values: "Retain", "Delete"`)},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`,
			`spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`},
		{"rollingUpdate with OnDelete", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":2}}}}`,
			`spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`},
		{"partition", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`,
			`spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0`},
		{"ordinals", `{"spec":{"ordinals":{"start":-1}}}`, `spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0`},
		{"mount of a claim template", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}}`, ""},
		{"volume with the name of a claim template", `{"spec":{"template":{"spec":{"volumes":[{"name":"data","hostPath":{"path":""}},{"name":"x","hostPath":{"path":""}}]}}}}`,
			`spec.template.spec.volumes[1].hostPath.path: Required value`},
		{"hostname and subdomain are ignored", `{"spec":{"template":{"spec":{"hostname":"A","subdomain":"B"}}}}`, ""},
		{"invalid selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}}`, kindtest.Errors(
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In"}]}`)},
	})
	kindtest.TestPatchedUpdates(t, name, base, []kindtest.PatchRow{
		{"replicas", `{"spec":{"replicas":2,"minReadySeconds":5,"ordinals":{"start":3}}}`, ""},
		{"service", `{"spec":{"serviceName":"A"}}`, `spec.serviceName: Invalid value: "A": field is immutable`},
		{"claims", `{"spec":{"volumeClaimTemplates":null}}`, `spec.volumeClaimTemplates: Invalid value: null: field is immutable`},
	})
	kindtest.TestPatchedUpdates(t, name, strings.Replace(base, `"image":"i"`, `"image":" i"`, 1), []kindtest.PatchRow{
		{"another bad image", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":" j"}]}}}}`, ""},
	})
	kindtest.TestPatchedUpdates(t, name, kindtest.MergePatch(t, base, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}}}`), []kindtest.PatchRow{
		{"bad volume beside a container that only other servers refuse", `{"spec":{"template":{"spec":{"volumes":[{"name":"x","hostPath":{"path":""}}]}}}}`,
			`spec.template.spec.volumes[1].hostPath.path: Required value`},
	})
	kindtest.TestPatchedStatus(t, name, `{"status":{"replicas":1}}`, []kindtest.PatchRow{
		{"more than ready", `{"status":{"availableReplicas":1}}`,
			`status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas`},
	})
	typ := kindtest.TypeOf(t, name)
	assert.Equal(t, []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		typ.WarningsOnWrite(kindtest.Decode(t, typ, kindtest.MergePatch(t, base, `{"spec":{"revisionHistoryLimit":-1}}`)), object.View{}))
}

func TestStatefulSetGeneration(t *testing.T) {
	typ := kindtest.TypeOf(t, "statefulsets.apps")
	const body = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"}}],` + template + `}}`
	obj := kindtest.Create(t, typ, body)
	stored, _, err := typ.Codec.Decode(typ.Codec.Append(nil, obj), true)
	if err != nil {
		t.Fatal(err)
	}
	typ.Default(stored) // as when it is read from the store
	if typ.Generation(obj, object.ViewOf(stored)) {
		t.Error("Generation reports a change between a created object and the stored one")
	}
	obj["spec"].(map[string]any)["replicas"] = int64(2)
	if !typ.Generation(obj, object.ViewOf(stored)) {
		t.Error("Generation reports no change of spec.replicas")
	}
}

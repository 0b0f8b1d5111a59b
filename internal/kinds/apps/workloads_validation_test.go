package apps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

// workload returns a workload with a valid selector and template, and with more in
// its spec.
func workload(more string) string {
	return `{"metadata":{"name":"a","namespace":"n"},"spec":{"selector":{"matchLabels":{"a":"b"}},` + more + kindtest.PodTemplate("Always") + `}}`
}

func TestValidateDeployment(t *testing.T) {
	const name = "deployments.apps"
	unselected := "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	kindtest.TestPatched(t, name, workload(""), []kindtest.PatchRow{
		{"no selector", `{"spec":{"selector":null}}`, kindtest.Errors(`spec.selector: Required value`, unselected)},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		{"other selector", `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`, unselected},
		{"no labels", `{"spec":{"template":{"metadata":{"labels":null}}}}`, strings.Replace(unselected, `{"a":"b"}`, "null", 1)},
		{"empty labels", `{"spec":{"template":{"metadata":{"labels":{"a":null}}}}}`, strings.Replace(unselected, `{"a":"b"}`, "{}", 1)},
		{"invalid selector", `{"spec":{"selector":{"matchLabels":null,"matchExpressions":[{"key":"a","operator":"Is"}]}}}`, kindtest.Errors(
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Is"}]}: invalid label selector`)},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":600,"revisionHistoryLimit":-2}}`, kindtest.Errors(
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0`,
			`spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds`)},
		{"strategy", `{"spec":{"strategy":{"type":"Blue","rollingUpdate":{"maxSurge":"5%"}}}}`,
			`spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"5%"}}: supported values: "Recreate", "RollingUpdate"`},
		{"rollingUpdate with Recreate", `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}}}}`,
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"},
		{"no surge and none unavailable", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":0}}}}`,
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"},
		{"rolling numbers", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":-1,"maxUnavailable":"101%"}}}}`, kindtest.Errors(
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0`,
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`)},
		{"template", `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`, kindtest.Errors(
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported`)},
	})
	kindtest.TestPatchedUpdates(t, name, workload(""), []kindtest.PatchRow{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
		{"replicas", `{"spec":{"replicas":3}}`, ""},
	})
	kindtest.TestPatchedStatus(t, name, `{"status":{"replicas":1,"collisionCount":2}}`, []kindtest.PatchRow{
		{"more than replicas", `{"status":{"readyReplicas":2,"availableReplicas":3}}`, kindtest.Errors(
			`status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas`)},
		{"negative", `{"status":{"unavailableReplicas":-1}}`, `status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0`},
		{"negative replicas", `{"status":{"replicas":-1}}`, kindtest.Errors(
			`status.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas`)},
		{"collisions", `{"status":{"collisionCount":null}}`, `status.collisionCount: Invalid value: 0: cannot be decremented`},
	})
}

func TestValidateReplicaSet(t *testing.T) {
	kindtest.TestPatched(t, "replicasets.apps", workload(""), []kindtest.PatchRow{
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":-2}}`, kindtest.Errors(
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`, `spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0`)},
	})
	kindtest.TestPatchedUpdates(t, "replicasets.apps", workload(""), []kindtest.PatchRow{
		{"selector", `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`},
	})
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

func TestValidateDaemonSet(t *testing.T) {
	const name = "daemonsets.apps"
	rolling := func(rolling string) string {
		return `{"spec":{"updateStrategy":{"rollingUpdate":` + rolling + `}}}`
	}
	kindtest.TestPatched(t, name, workload(""), []kindtest.PatchRow{
		{"no selector", `{"spec":{"selector":null}}`,
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for daemonset`},
		{"both", rolling(`{"maxSurge":1,"maxUnavailable":"10%"}`),
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`},
		{"neither", rolling(`{"maxUnavailable":0}`),
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`,
			`spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`},
	})
	kindtest.TestPatchedUpdates(t, name, workload(""), []kindtest.PatchRow{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
	})
}

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
	const forbidden = `spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`
	kindtest.TestPatchedUpdates(t, name, base, []kindtest.PatchRow{
		{"replicas", `{"spec":{"replicas":2,"minReadySeconds":5,"ordinals":{"start":3}}}`, ""},
		{"service", `{"spec":{"serviceName":"A"}}`, forbidden},
		{"claims", `{"spec":{"volumeClaimTemplates":null}}`, forbidden},
	})
	kindtest.TestPatchedUpdates(t, name, strings.Replace(base, `"image":"i"`, `"image":" i"`, 1), []kindtest.PatchRow{
		{"another bad image", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":" j"}]}}}}`, ""},
	})
	kindtest.TestPatchedStatus(t, name, `{"status":{"replicas":1}}`, []kindtest.PatchRow{
		{"more than ready", `{"status":{"availableReplicas":1}}`,
			`status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas`},
	})
	typ := kindtest.TypeOf(t, name)
	assert.Equal(t, []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		typ.WarningsOnWrite(kindtest.Decode(t, typ, kindtest.MergePatch(t, base, `{"spec":{"revisionHistoryLimit":-1}}`)), nil))
}

func TestValidateControllerRevision(t *testing.T) {
	const base = `{"metadata":{"name":"a","namespace":"n"},"revision":1,"data":{"a":1}}`
	kindtest.TestPatched(t, "controllerrevisions.apps", base, []kindtest.PatchRow{
		{"no data", `{"data":null}`, `data: Required value: data is mandatory`},
		{"other data", `{"data":[1]}`, `data: Required value: data must be a valid JSON object`},
		{"revision", `{"revision":-1}`, `revision: Invalid value: -1: must be greater than or equal to 0`},
	})
	kindtest.TestPatchedUpdates(t, "controllerrevisions.apps", base, []kindtest.PatchRow{
		{"data", `{"data":{"a":2}}`, `data: Invalid value: {"a":2}: field is immutable`},
		{"revision", `{"revision":2}`, ""},
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
			assert.Contains(t, typ.WarningsOnWrite(obj, nil), warning, "create")
			assert.NotContains(t, typ.WarningsOnWrite(obj, obj), warning, "update without a change")
		})
	}
	typ := kindtest.TypeOf(t, "statefulsets.apps")
	claims := kindtest.Decode(t, typ, kindtest.MergePatch(t, workload(""), `{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"1500m"}}}}]}}`))
	assert.Equal(t, []string{`spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`}, typ.WarningsOnWrite(claims, nil))
}

package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// workload is a workload whose pods run on, with more in its specification.
func workload(more string) string {
	return `{"metadata":{"name":"a","namespace":"n"},"spec":{"selector":{"matchLabels":{"a":"b"}},` + more + templateOf("Always") + `}}`
}

func templateOf(restartPolicy string) string {
	return `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"` + restartPolicy + `","containers":[{"name":"c","image":"i"}]}}`
}

func TestValidateDeployment(t *testing.T) {
	const name = "deployments.apps"
	unselected := "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	testVariants(t, name, workload(""), []variant{
		{"no selector", `{"spec":{"selector":null}}`, all(`spec.selector: Required value`, unselected)},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		{"other selector", `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`, unselected},
		{"no labels", `{"spec":{"template":{"metadata":{"labels":null}}}}`, strings.Replace(unselected, `{"a":"b"}`, "null", 1)},
		{"empty labels", `{"spec":{"template":{"metadata":{"labels":{"a":null}}}}}`, strings.Replace(unselected, `{"a":"b"}`, "{}", 1)},
		{"senseless selector", `{"spec":{"selector":{"matchLabels":null,"matchExpressions":[{"key":"a","operator":"Is"}]}}}`, all(
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Is"}]}: invalid label selector`)},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":600,"revisionHistoryLimit":-2}}`, all(
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0`,
			`spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds`)},
		{"strategy", `{"spec":{"strategy":{"type":"Blue","rollingUpdate":{"maxSurge":"5%"}}}}`,
			`spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"5%"}}: supported values: "Recreate", "RollingUpdate"`},
		{"recreate by rolling", `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}}}}`,
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"},
		{"no room to roll", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":0}}}}`,
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"},
		{"rolling numbers", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":-1,"maxUnavailable":"101%"}}}}`, all(
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0`,
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`)},
		{"template", `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`, all(
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported`)},
	})
	testUpdatedVariants(t, name, workload(""), []variant{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
		{"replicas", `{"spec":{"replicas":3}}`, ""},
	})
	testStatusVariants(t, name, `{"status":{"replicas":1,"collisionCount":2}}`, []variant{
		{"more than there are", `{"status":{"readyReplicas":2,"availableReplicas":3}}`, all(
			`status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas`)},
		{"negative", `{"status":{"unavailableReplicas":-1}}`, `status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0`},
		{"fewer than none", `{"status":{"replicas":-1}}`, all(
			`status.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas`)},
		{"collisions", `{"status":{"collisionCount":null}}`, `status.collisionCount: Invalid value: 0: cannot be decremented`},
	})
}

func TestValidateReplicaSet(t *testing.T) {
	testVariants(t, "replicasets.apps", workload(""), []variant{
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":-2}}`, all(
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`, `spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0`)},
	})
	testUpdatedVariants(t, "replicasets.apps", workload(""), []variant{
		{"selector", `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`},
	})
}

func TestValidateReplicationController(t *testing.T) {
	base := strings.Replace(workload(""), `{"matchLabels":{"a":"b"}}`, `{"a":"b"}`, 1)
	testVariants(t, "replicationcontrollers", base, []variant{
		{"no template", `{"spec":{"selector":null,"template":null}}`, all(`spec.selector: Required value`, `spec.template: Required value`)},
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
	testVariants(t, name, workload(""), []variant{
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
	testUpdatedVariants(t, name, workload(""), []variant{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
	})
}

func TestValidateStatefulSet(t *testing.T) {
	const name = "statefulsets.apps"
	base := workload(`"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],`)
	testVariants(t, name, base, []variant{
		{"policies", `{"spec":{"podManagementPolicy":"X","persistentVolumeClaimRetentionPolicy":{"whenScaled":"Y"}}}`, all(
			`spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel'`,
			`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Y": supported values: "Retain", "Delete"`)},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`,
			`spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`},
		{"rolling on delete", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":2}}}}`,
			`spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`},
		{"partition", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`,
			`spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0`},
		{"ordinals", `{"spec":{"ordinals":{"start":-1}}}`, `spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0`},
		{"claims are volumes", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}}`, ""},
		{"claims come first", `{"spec":{"template":{"spec":{"volumes":[{"name":"data","hostPath":{"path":""}},{"name":"x","hostPath":{"path":""}}]}}}}`,
			`spec.template.spec.volumes[1].hostPath.path: Required value`},
		{"names are the pods' own", `{"spec":{"template":{"spec":{"hostname":"A","subdomain":"B"}}}}`, ""},
		{"senseless selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}}`, all(
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In"}]}`)},
	})
	const forbidden = `spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`
	testUpdatedVariants(t, name, base, []variant{
		{"replicas", `{"spec":{"replicas":2,"minReadySeconds":5,"ordinals":{"start":3}}}`, ""},
		{"service", `{"spec":{"serviceName":"A"}}`, forbidden},
		{"claims", `{"spec":{"volumeClaimTemplates":null}}`, forbidden},
	})
	testUpdatedVariants(t, name, strings.Replace(base, `"image":"i"`, `"image":" i"`, 1), []variant{
		{"another bad image", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":" j"}]}}}}`, ""},
	})
	testStatusVariants(t, name, `{"status":{"replicas":1}}`, []variant{
		{"more than ready", `{"status":{"availableReplicas":1}}`,
			`status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas`},
	})
	typ := typeOf(t, name)
	assert.Equal(t, []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		typ.Warn(decoded(t, typ, patched(t, base, `{"spec":{"revisionHistoryLimit":-1}}`)), nil))
}

func TestValidateControllerRevision(t *testing.T) {
	const base = `{"metadata":{"name":"a","namespace":"n"},"revision":1,"data":{"a":1}}`
	testVariants(t, "controllerrevisions.apps", base, []variant{
		{"no data", `{"data":null}`, `data: Required value: data is mandatory`},
		{"other data", `{"data":[1]}`, `data: Required value: data must be a valid JSON object`},
		{"revision", `{"revision":-1}`, `revision: Invalid value: -1: must be greater than or equal to 0`},
	})
	testUpdatedVariants(t, "controllerrevisions.apps", base, []variant{
		{"data", `{"data":{"a":2}}`, `data: Invalid value: {"a":2}: field is immutable`},
		{"revision", `{"revision":2}`, ""},
	})
}

func TestValidateAutoscaler(t *testing.T) {
	const name = "horizontalpodautoscalers.autoscaling"
	const base = `{"metadata":{"name":"a","namespace":"n"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`
	metric := func(metric string) string { return `{"spec":{"metrics":[` + metric + `]}}` }
	testVariants(t, name, base, []variant{
		{"replicas", `{"spec":{"minReplicas":0,"maxReplicas":-1}}`, all(
			`spec.minReplicas: Invalid value: 0: must be greater than or equal to 1`,
			`spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1`,
			"spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`)},
		{"no policies", `{"spec":{"behavior":{"scaleUp":{"policies":[]}}}}`,
			`spec.behavior.scaleUp.policies: Required value: must specify at least one Policy`},
		{"target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"","name":"a/b"}}}`, all(
			`spec.scaleTargetRef.kind: Required value`, `spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`)},
		{"core target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"ReplicationController"}}}`, ""},
		{"senseless version", `{"spec":{"scaleTargetRef":{"apiVersion":"a/b/c"}}}`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`},
		{"no type", metric(`{"type":""}`), all(
			`spec.metrics[0].type: Required value: must specify a metric source type`,
			`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
			`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`)},
		{"no source", metric(`{"type":"Pods"}`), `spec.metrics[0].pods: Required value: must populate information for the given metric source`},
		{"two sources", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}},"resource":{"name":"cpu","target":{"type":"X"}}}`),
			`spec.metrics[0].resource: Forbidden: must populate the given metric source only`},
		{"pods", metric(`{"type":"Pods","pods":{"metric":{"name":""},"target":{"type":"X","value":"0"}}}`), all(
			`spec.metrics[0].pods.metric.name: Required value: must specify a metric name`,
			`spec.metrics[0].pods.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue`,
			`spec.metrics[0].pods.target.value: Invalid value: "0": must be positive`,
			`spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue`)},
		{"external", metric(`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1","averageValue":"1"}}}`),
			`spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`},
		{"object", metric(`{"type":"Object","object":{"describedObject":{"kind":"K","name":"n"},"metric":{"name":"m"},"target":{"type":"Value"}}}`),
			`spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue`},
		{"container", metric(`{"type":"ContainerResource","containerResource":{"name":"x","container":"","target":{"type":"Utilization","averageUtilization":0}}}`), all(
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource type or fully qualified`,
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource for containers`,
			`spec.metrics[0].containerResource.container: Required value: must specify a container`,
			`spec.metrics[0].containerResource.target.averageUtilization: Invalid value: 0: must be greater than 0`)},
		{"behavior", `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":3601,"selectPolicy":"X","tolerance":"-1","policies":[{"type":"Y","value":0,"periodSeconds":1801}]},"scaleDown":{"stabilizationWindowSeconds":-1}}}}`, all(
			`spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600`,
			`spec.behavior.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"`,
			`spec.behavior.scaleUp.policies[0].type: Unsupported value: "Y": supported values: "Percent", "Pods"`,
			`spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero`,
			`spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
			`spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero`)},
	})
	testUpdatedVariants(t, name, patched(t, base, `{"spec":{"minReplicas":0,"scaleTargetRef":{"apiVersion":"v1"},"metrics":[
		{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}}]}}`), []variant{
		{"metrics", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}`),
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`},
		{"target's name", `{"spec":{"scaleTargetRef":{"name":"e"}}}`, ""},
		{"target's kind", `{"spec":{"scaleTargetRef":{"kind":"X"}}}`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`},
	})
	testStatusVariants(t, name, `{}`, []variant{
		{"replicas", `{"status":{"currentReplicas":-1,"desiredReplicas":-2}}`, all(
			`status.currentReplicas: Invalid value: -1: must be greater than or equal to 0`, `status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0`)},
	})
}

func TestValidateDisruptionBudget(t *testing.T) {
	const name = "poddisruptionbudgets.policy"
	testVariants(t, name, `{"metadata":{"name":"a"},"spec":{"minAvailable":1}}`, []variant{
		{"both", `{"spec":{"maxUnavailable":"1%"}}`,
			`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"1%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set`},
		{"number", `{"spec":{"minAvailable":-1}}`, `spec.minAvailable: Invalid value: -1: must be greater than or equal to 0`},
		{"percentage", `{"spec":{"minAvailable":"200%"}}`, `spec.minAvailable: Invalid value: "200%": must not be greater than 100%`},
		{"policy", `{"spec":{"unhealthyPodEvictionPolicy":"X"}}`,
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"`},
	})
	testStatusVariants(t, name, `{}`, []variant{
		{"numbers", `{"status":{"expectedPods":-1,"conditions":[{"type":"a","status":"True","reason":"R","lastTransitionTime":null}]}}`, all(
			`status.conditions[0].lastTransitionTime: Required value`, `status.expectedPods: Invalid value: -1: must be greater than or equal to 0`)},
	})
}

func TestValidatePriorityClass(t *testing.T) {
	const name = "priorityclasses.scheduling.k8s.io"
	const reserved = `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: `
	testVariants(t, name, `{"metadata":{"name":"a"},"value":1}`, []variant{
		{"value", `{"value":1000000001}`, `value: Forbidden: maximum allowed value of a user defined priority is 1000000000`},
		{"policy", `{"preemptionPolicy":"X"}`, `preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"`},
		{"reserved name", `{"metadata":{"name":"system-x"}}`, reserved + `system-x is not a known system priority class`},
		{"system's value", `{"metadata":{"name":"system-node-critical"}}`, reserved + `value of system-node-critical PriorityClass must be 2000001000`},
		{"system's default", `{"metadata":{"name":"system-node-critical"},"value":2000001000,"globalDefault":true}`,
			reserved + `globalDefault of system-node-critical PriorityClass must be false`},
		{"system's own", `{"metadata":{"name":"system-node-critical"},"value":2000001000}`, ""},
	})
	testUpdatedVariants(t, name, `{"metadata":{"name":"a"},"value":1}`, []variant{
		{"value and policy", `{"value":2,"preemptionPolicy":"Never"}`, all(
			`value: Forbidden: may not be changed in an update.`, `preemptionPolicy: Invalid value: "Never": field is immutable`)},
	})
}

func TestWarnOfTemplates(t *testing.T) {
	const toleration = `{"spec":{"template":{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}}}}`
	const warning = `spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	for _, name := range []string{"deployments.apps", "replicasets.apps", "daemonsets.apps", "statefulsets.apps", "replicationcontrollers", "jobs.batch"} {
		t.Run(name, func(t *testing.T) {
			typ := typeOf(t, name)
			body := patched(t, workload(""), toleration)
			if name == "replicationcontrollers" {
				body = patched(t, body, `{"spec":{"selector":null}}`)
			}
			obj := created(t, typ, body)
			assert.Contains(t, typ.Warn(obj, nil), warning, "new")
			assert.NotContains(t, typ.Warn(obj, obj), warning, "as it was")
		})
	}
	typ := typeOf(t, "statefulsets.apps")
	claims := decoded(t, typ, patched(t, workload(""), `{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"1500m"}}}}]}}`))
	assert.Equal(t, []string{`spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`}, typ.Warn(claims, nil))
}

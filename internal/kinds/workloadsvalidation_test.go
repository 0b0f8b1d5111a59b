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
	testRulings(t, name, workload(""), []ruling{
		{"no selector", `{"spec":{"selector":null}}`, []string{`spec.selector: Required value`, unselected}},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, []string{`spec.selector: Invalid value: {}: empty selector is invalid for deployment`}},
		{"other selector", `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`, []string{unselected}},
		{"senseless selector", `{"spec":{"selector":{"matchLabels":null,"matchExpressions":[{"key":"a","operator":"Is"}]}}}`, []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Is"}]}: invalid label selector`}},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":600,"revisionHistoryLimit":-2}}`, []string{
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0`,
			`spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds`}},
		{"strategy", `{"spec":{"strategy":{"type":"Blue","rollingUpdate":{"maxSurge":"5%"}}}}`, []string{
			`spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"5%"}}: supported values: "Recreate", "RollingUpdate"`}},
		{"recreate by rolling", `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}}}}`, []string{
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{"no room to roll", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":0}}}}`, []string{
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"}},
		{"rolling numbers", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":-1,"maxUnavailable":"101%"}}}}`, []string{
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0`,
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{"template", `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported`}},
	})
	testUpdateRulings(t, name, workload(""), []ruling{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`, []string{
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`}},
		{"replicas", `{"spec":{"replicas":3}}`, nil},
	})
	testStatusRulings(t, name, `{"status":{"replicas":1,"collisionCount":2}}`, []ruling{
		{"more than there are", `{"status":{"readyReplicas":2,"availableReplicas":3}}`, []string{
			`status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas`}},
		{"negative", `{"status":{"unavailableReplicas":-1}}`, []string{`status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0`}},
		{"fewer than none", `{"status":{"replicas":-1}}`, []string{
			`status.replicas: Invalid value: -1: must be greater than or equal to 0`,
			`status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas`,
			`status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas`}},
		{"collisions", `{"status":{"collisionCount":null}}`, []string{`status.collisionCount: Invalid value: 0: cannot be decremented`}},
	})
}

func TestValidateReplicaSet(t *testing.T) {
	testRulings(t, "replicasets.apps", workload(""), []ruling{
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, []string{`spec.selector: Invalid value: {}: empty selector is invalid for deployment`}},
		{"numbers", `{"spec":{"replicas":-1,"minReadySeconds":-2}}`, []string{
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`, `spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0`}},
	})
	testUpdateRulings(t, "replicasets.apps", workload(""), []ruling{
		{"selector", `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`, []string{
			`spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`}},
	})
}

func TestValidateReplicationController(t *testing.T) {
	base := strings.Replace(workload(""), `{"matchLabels":{"a":"b"}}`, `{"a":"b"}`, 1)
	testRulings(t, "replicationcontrollers", base, []ruling{
		{"no template", `{"spec":{"selector":null,"template":null}}`, []string{`spec.selector: Required value`, `spec.template: Required value`}},
		{"other selector", `{"spec":{"selector":{"c":"d","e":"f"}}}`, []string{
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}},
		{"deadline", `{"spec":{"template":{"spec":{"activeDeadlineSeconds":1}}}}`, []string{
			`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported`}},
	})
}

func TestValidateDaemonSet(t *testing.T) {
	const name = "daemonsets.apps"
	rolling := func(rolling string) string {
		return `{"spec":{"updateStrategy":{"rollingUpdate":` + rolling + `}}}`
	}
	testRulings(t, name, workload(""), []ruling{
		{"no selector", `{"spec":{"selector":null}}`, []string{
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, []string{`spec.selector: Invalid value: {}: empty selector is invalid for daemonset`}},
		{"both", rolling(`{"maxSurge":1,"maxUnavailable":"10%"}`), []string{
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`}},
		{"neither", rolling(`{"maxUnavailable":0}`), []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`}},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`, []string{
			`spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`}},
	})
	testUpdateRulings(t, name, workload(""), []ruling{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`, []string{
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`}},
	})
}

func TestValidateStatefulSet(t *testing.T) {
	const name = "statefulsets.apps"
	base := workload(`"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],`)
	testRulings(t, name, base, []ruling{
		{"policies", `{"spec":{"podManagementPolicy":"X","persistentVolumeClaimRetentionPolicy":{"whenScaled":"Y"}}}`, []string{
			`spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel'`,
			`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Y": supported values: "Retain", "Delete"`}},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`, []string{
			`spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`}},
		{"rolling on delete", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":2}}}}`, []string{
			`spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`}},
		{"partition", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`, []string{
			`spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0`}},
		{"ordinals", `{"spec":{"ordinals":{"start":-1}}}`, []string{`spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0`}},
		{"claims are volumes", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}}`, nil},
		{"claims come first", `{"spec":{"template":{"spec":{"volumes":[{"name":"data","hostPath":{"path":""}},{"name":"x","hostPath":{"path":""}}]}}}}`, []string{
			`spec.template.spec.volumes[1].hostPath.path: Required value`}},
		{"names are the pods' own", `{"spec":{"template":{"spec":{"hostname":"A","subdomain":"B"}}}}`, nil},
		{"senseless selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}}`, []string{
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In"}]}`}},
	})
	const forbidden = `spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`
	testUpdateRulings(t, name, base, []ruling{
		{"replicas", `{"spec":{"replicas":2,"minReadySeconds":5,"ordinals":{"start":3}}}`, nil},
		{"service", `{"spec":{"serviceName":"A"}}`, []string{forbidden}},
		{"claims", `{"spec":{"volumeClaimTemplates":null}}`, []string{forbidden}},
	})
	testUpdateRulings(t, name, strings.Replace(base, `"image":"i"`, `"image":" i"`, 1), []ruling{
		{"another bad image", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":" j"}]}}}}`, nil},
	})
	testStatusRulings(t, name, `{"status":{"replicas":1}}`, []ruling{
		{"more than ready", `{"status":{"availableReplicas":1}}`, []string{
			`status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas`}},
	})
	typ := typeOf(t, name)
	assert.Equal(t, []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		typ.Warn(decoded(t, typ, patched(t, base, `{"spec":{"revisionHistoryLimit":-1}}`)), nil))
}

func TestValidateControllerRevision(t *testing.T) {
	const base = `{"metadata":{"name":"a","namespace":"n"},"revision":1,"data":{"a":1}}`
	testRulings(t, "controllerrevisions.apps", base, []ruling{
		{"no data", `{"data":null}`, []string{`data: Required value: data is mandatory`}},
		{"other data", `{"data":[1]}`, []string{`data: Required value: data must be a valid JSON object`}},
		{"revision", `{"revision":-1}`, []string{`revision: Invalid value: -1: must be greater than or equal to 0`}},
	})
	testUpdateRulings(t, "controllerrevisions.apps", base, []ruling{
		{"data", `{"data":{"a":2}}`, []string{`data: Invalid value: {"a":2}: field is immutable`}},
		{"revision", `{"revision":2}`, nil},
	})
}

func TestValidateAutoscaler(t *testing.T) {
	const name = "horizontalpodautoscalers.autoscaling"
	const base = `{"metadata":{"name":"a","namespace":"n"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`
	metric := func(metric string) string { return `{"spec":{"metrics":[` + metric + `]}}` }
	testRulings(t, name, base, []ruling{
		{"replicas", `{"spec":{"minReplicas":0,"maxReplicas":-1}}`, []string{
			`spec.minReplicas: Invalid value: 0: must be greater than or equal to 1`,
			`spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1`,
			"spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`}},
		{"target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"","name":"a/b"}}}`, []string{
			`spec.scaleTargetRef.kind: Required value`, `spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`}},
		{"core target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"ReplicationController"}}}`, nil},
		{"senseless version", `{"spec":{"scaleTargetRef":{"apiVersion":"a/b/c"}}}`, []string{
			`spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`}},
		{"no type", metric(`{"type":""}`), []string{
			`spec.metrics[0].type: Required value: must specify a metric source type`,
			`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
			`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`}},
		{"no source", metric(`{"type":"Pods"}`), []string{`spec.metrics[0].pods: Required value: must populate information for the given metric source`}},
		{"two sources", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}},"resource":{"name":"cpu","target":{"type":"X"}}}`), []string{
			`spec.metrics[0].resource: Forbidden: must populate the given metric source only`}},
		{"pods", metric(`{"type":"Pods","pods":{"metric":{"name":""},"target":{"type":"X","value":"0"}}}`), []string{
			`spec.metrics[0].pods.metric.name: Required value: must specify a metric name`,
			`spec.metrics[0].pods.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue`,
			`spec.metrics[0].pods.target.value: Invalid value: "0": must be positive`,
			`spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue`}},
		{"external", metric(`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1","averageValue":"1"}}}`), []string{
			`spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`}},
		{"object", metric(`{"type":"Object","object":{"describedObject":{"kind":"K","name":"n"},"metric":{"name":"m"},"target":{"type":"Value"}}}`), []string{
			`spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue`}},
		{"container", metric(`{"type":"ContainerResource","containerResource":{"name":"x","container":"","target":{"type":"Utilization","averageUtilization":0}}}`), []string{
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource type or fully qualified`,
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource for containers`,
			`spec.metrics[0].containerResource.container: Required value: must specify a container`,
			`spec.metrics[0].containerResource.target.averageUtilization: Invalid value: 0: must be greater than 0`}},
		{"behavior", `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":3601,"selectPolicy":"X","tolerance":"-1","policies":[{"type":"Y","value":0,"periodSeconds":1801}]},"scaleDown":{"stabilizationWindowSeconds":-1}}}}`, []string{
			`spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600`,
			`spec.behavior.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"`,
			`spec.behavior.scaleUp.policies[0].type: Unsupported value: "Y": supported values: "Percent", "Pods"`,
			`spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero`,
			`spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
			`spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero`}},
	})
	testUpdateRulings(t, name, patched(t, base, `{"spec":{"minReplicas":0,"scaleTargetRef":{"apiVersion":"v1"},"metrics":[
		{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}}]}}`), []ruling{
		{"metrics", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}`), []string{
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`}},
		{"target's name", `{"spec":{"scaleTargetRef":{"name":"e"}}}`, nil},
		{"target's kind", `{"spec":{"scaleTargetRef":{"kind":"X"}}}`, []string{
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`}},
	})
	testStatusRulings(t, name, `{}`, []ruling{
		{"replicas", `{"status":{"currentReplicas":-1,"desiredReplicas":-2}}`, []string{
			`status.currentReplicas: Invalid value: -1: must be greater than or equal to 0`, `status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0`}},
	})
}

func TestValidateDisruptionBudget(t *testing.T) {
	const name = "poddisruptionbudgets.policy"
	testRulings(t, name, `{"metadata":{"name":"a"},"spec":{"minAvailable":1}}`, []ruling{
		{"both", `{"spec":{"maxUnavailable":"1%"}}`, []string{
			`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"1%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set`}},
		{"number", `{"spec":{"minAvailable":-1}}`, []string{`spec.minAvailable: Invalid value: -1: must be greater than or equal to 0`}},
		{"percentage", `{"spec":{"minAvailable":"200%"}}`, []string{`spec.minAvailable: Invalid value: "200%": must not be greater than 100%`}},
		{"policy", `{"spec":{"unhealthyPodEvictionPolicy":"X"}}`, []string{
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"`}},
	})
	testStatusRulings(t, name, `{}`, []ruling{
		{"numbers", `{"status":{"expectedPods":-1,"conditions":[{"type":"a","status":"True","reason":"R","lastTransitionTime":null}]}}`, []string{
			`status.conditions[0].lastTransitionTime: Required value`, `status.expectedPods: Invalid value: -1: must be greater than or equal to 0`}},
	})
}

func TestValidatePriorityClass(t *testing.T) {
	const name = "priorityclasses.scheduling.k8s.io"
	const reserved = `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: `
	testRulings(t, name, `{"metadata":{"name":"a"},"value":1}`, []ruling{
		{"value", `{"value":1000000001}`, []string{`value: Forbidden: maximum allowed value of a user defined priority is 1000000000`}},
		{"policy", `{"preemptionPolicy":"X"}`, []string{`preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"`}},
		{"reserved name", `{"metadata":{"name":"system-x"}}`, []string{reserved + `system-x is not a known system priority class`}},
		{"system's value", `{"metadata":{"name":"system-node-critical"}}`, []string{reserved + `value of system-node-critical PriorityClass must be 2000001000`}},
		{"system's default", `{"metadata":{"name":"system-node-critical"},"value":2000001000,"globalDefault":true}`, []string{
			reserved + `globalDefault of system-node-critical PriorityClass must be false`}},
		{"system's own", `{"metadata":{"name":"system-node-critical"},"value":2000001000}`, nil},
	})
	testUpdateRulings(t, name, `{"metadata":{"name":"a"},"value":1}`, []ruling{
		{"value and policy", `{"value":2,"preemptionPolicy":"Never"}`, []string{
			`value: Forbidden: may not be changed in an update.`, `preemptionPolicy: Invalid value: "Never": field is immutable`}},
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

package apps_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

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

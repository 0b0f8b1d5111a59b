package objects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// budget creates a PodDisruptionBudget for all Pods of runPod with an
// unhealthyPodEvictionPolicy and a status.
func budget(t testing.TB, srv *fakeapi.Server, policy, status string) (path string) {
	t.Helper()
	const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	code, made := apitest.Do(t, srv, "POST", budgets, fmt.Sprintf(
		`{"metadata":{"name":"b"},"spec":{"minAvailable":1,"unhealthyPodEvictionPolicy":%q,"selector":{"matchLabels":{"app":"web"}}}}`, policy))
	require.Equal(t, http.StatusCreated, code)
	path = budgets + "/b"
	code, _ = apitest.Do(t, srv, "PUT", path+"/status", fmt.Sprintf(
		`{"metadata":{"name":"b","resourceVersion":%q},"status":%s}`, made.ResourceVersion(), status))
	require.Equal(t, http.StatusOK, code)
	return path
}

func evict(t testing.TB, srv *fakeapi.Server, pod, options string) (int, fakeapi.Object) {
	t.Helper()
	return apitest.Do(t, srv, "POST", apitest.PodsPath+pod+"/eviction", fmt.Sprintf(`{"metadata":{"name":%q},"deleteOptions":{%s}}`, pod, options))
}

// Concurrent evictions do not exceed the budget.
func TestConcurrentEvictions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const pods = 8
	for i := range pods {
		apitest.RunPod(t, srv, fmt.Sprint("p", i), "True")
	}
	path := budget(t, srv, "IfHealthyBudget", `{"observedGeneration":1,"disruptionsAllowed":3,"currentHealthy":8,"desiredHealthy":5}`)
	codes := make(chan int, pods)
	for i := range pods {
		go func() {
			code, _ := evict(t, srv, fmt.Sprint("p", i), "")
			codes <- code
		}()
	}
	count := map[int]int{}
	for range pods {
		count[<-codes]++
	}
	assert.Equal(t, map[int]int{http.StatusCreated: 3, http.StatusTooManyRequests: 5}, count)
	_, b := apitest.Do(t, srv, "GET", path, "")
	status, _ := b["status"].(map[string]any)
	assert.Equal(t, float64(0), status["disruptionsAllowed"])
	assert.Len(t, status["disruptedPods"], 3)
	conditions, _ := status["conditions"].([]any)
	require.Len(t, conditions, 1)
	condition, _ := conditions[0].(map[string]any)
	assert.Equal(t, "InsufficientPods", condition["reason"])
}

// A budget with more disrupted Pods than a controller lets it have refuses evictions, since v1.37 with
// the cause of a budget.
func TestEvictionWithManyDisruptedPods(t *testing.T) {
	disrupted := map[string]string{}
	for i := range 2001 {
		disrupted[fmt.Sprint("p", i)] = "2030-01-01T00:00:00Z"
	}
	list, err := json.Marshal(disrupted)
	require.NoError(t, err)
	for release, causes := range map[string]any{"v1.36": nil, "v1.37": []any{map[string]any{
		"reason": "DisruptionBudget", "message": "The disruption budget b does not allow evicting pods currently: too many pending evictions not confirmed by PDB controller",
	}}} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		apitest.RunPod(t, srv, "p", "True")
		budget(t, srv, "IfHealthyBudget", `{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"disruptedPods":`+string(list)+`}`)
		code, answer := evict(t, srv, "p", "")
		assert.Equal(t, http.StatusForbidden, code, release)
		assert.Equal(t, causes, answer["details"].(map[string]any)["causes"], release)
	}
}

// With AlwaysAllow, the eviction of a Pod that is not ready does not count.
func TestEvictionOfUnreadyPods(t *testing.T) {
	const starved = `{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":2}`
	for _, row := range []struct {
		name, policy, options string
		want                  int
	}{
		{"counted", "IfHealthyBudget", ``, http.StatusTooManyRequests},
		{"always", "AlwaysAllow", ``, http.StatusCreated},
		{"dry run", "AlwaysAllow", `"dryRun":["All"]`, http.StatusCreated},
		{"another uid", "AlwaysAllow", `"preconditions":{"uid":"x"}`, http.StatusTooManyRequests},
		{"resourceVersion is ignored", "AlwaysAllow", `"preconditions":{"resourceVersion":"1"}`, http.StatusCreated},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			apitest.RunPod(t, srv, "p", "False")
			path := budget(t, srv, row.policy, starved)
			_, before := apitest.Do(t, srv, "GET", path, "")
			code, _ := evict(t, srv, "p", row.options)
			assert.Equal(t, row.want, code)
			_, after := apitest.Do(t, srv, "GET", path, "")
			assert.Equal(t, before, after)
			_, pod := apitest.Do(t, srv, "GET", apitest.PodsPath+"p", "")
			meta, _ := pod["metadata"].(map[string]any)
			going := row.want == http.StatusCreated && row.name != "dry run"
			assert.Equal(t, going, meta["deletionTimestamp"] != nil)
		})
	}
}

// Releases before v1.35 count healthy Pods, whatever the condition of the budget says.
func TestEvictionMessages(t *testing.T) {
	const failed = `{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":3,"desiredHealthy":1,"conditions":[
		{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"no scale","lastTransitionTime":"2026-01-02T03:04:05Z"}]}`
	for release, want := range map[string]string{
		"1.34": "The disruption budget b needs 1 healthy pods and has 3 currently",
		"1.35": "The disruption budget b does not allow evicting pods currently because it failed sync: no scale",
	} {
		t.Run(release, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
			apitest.RunPod(t, srv, "p", "True")
			budget(t, srv, "IfHealthyBudget", failed)
			code, obj := evict(t, srv, "p", "")
			assert.Equal(t, http.StatusTooManyRequests, code)
			details, _ := obj["details"].(map[string]any)
			assert.Equal(t, []any{map[string]any{"reason": "DisruptionBudget", "message": want}}, details["causes"])
		})
	}
}

func TestBindingErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.RunPod(t, srv, "going", "True")
	code, _ := apitest.Do(t, srv, "DELETE", apitest.PodsPath+"going", "")
	require.Equal(t, http.StatusOK, code)
	for _, row := range []struct {
		name, body, want string
		code             int
	}{
		{"no name", `{"target":{"name":"n"}}`, "Name parameter required.", http.StatusBadRequest},
		{"two errors", `{"metadata":{"name":"a"},"target":{"kind":"Pod"}}`,
			`[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]`, http.StatusInternalServerError},
		{"deletion pending", `{"metadata":{"name":"going"},"target":{"name":"n"}}`,
			`Operation cannot be fulfilled on pods/binding "going": pod going is being deleted, cannot be assigned to a host`, http.StatusConflict},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/bindings", row.body)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.want, answer["message"])
		})
	}
}

// Since v1.35 a binding removes the nominated Node from the status.
func TestBindingOfNominatedPod(t *testing.T) {
	for release, want := range map[string]any{"1.34": "m", "1.35": nil} {
		t.Run(release, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release), fakeapi.WithObjects(
				`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"nominatedNodeName":"m"}}`))
			code, _ := apitest.Do(t, srv, "POST", apitest.PodsPath+"p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`)
			require.Equal(t, http.StatusCreated, code)
			_, pod := apitest.Do(t, srv, "GET", apitest.PodsPath+"p", "")
			status, _ := pod["status"].(map[string]any)
			assert.Equal(t, want, status["nominatedNodeName"])
		})
	}
}

// A write to ephemeralcontainers changes no other field and removes no container.
func TestEphemeralContainers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.RunPod(t, srv, "p", "True")
	const path = apitest.PodsPath + "p/ephemeralcontainers"
	put := func(containers string) (int, fakeapi.Object) {
		return apitest.Do(t, srv, "PUT", path, `{"metadata":{"name":"p","labels":{"app":"db"}},"spec":{"ephemeralContainers":[`+containers+`]},"status":{"phase":"Failed"}}`)
	}
	_, before := apitest.Do(t, srv, "GET", path, "")
	code, after := put(`{"name":"debug","image":"i:1"}`)
	require.Equal(t, http.StatusOK, code)
	spec, _ := after["spec"].(map[string]any)
	assert.Len(t, spec["ephemeralContainers"], 1)
	delete(spec, "ephemeralContainers")
	assert.Equal(t, before["spec"], after["spec"])
	assert.Equal(t, before["status"], after["status"])
	meta, _ := after["metadata"].(map[string]any)
	assert.Equal(t, map[string]any{"app": "web"}, meta["labels"])
	assert.Equal(t, float64(2), meta["generation"])

	for _, row := range []struct{ name, containers, want string }{
		{"removed", ``, "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"debug\" may not be removed\n"},
		{"changed", `{"name":"debug","image":"i:2"}`, "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"debug\" may not be changed\n" +
			"@@ -1,6 +1,6 @@\n {\n  \"Name\": \"debug\",\n- \"Image\": \"i:1\",\n+ \"Image\": \"i:2\",\n  \"Command\": null,\n  \"Args\": null,\n  \"WorkingDir\": \"\",\n"},
		{"no image", `{"name":"debug","image":"i:1"},{"name":"a"}`, "spec.ephemeralContainers[1].image: Required value"},
		{"name of a container", `{"name":"debug","image":"i:1"},{"name":"c","image":"i"}`, `spec.ephemeralContainers[1].name: Duplicate value: "c"`},
		{"name of an ephemeral one", `{"name":"debug","image":"i:1"},{"name":"debug","image":"i:1"}`, `spec.ephemeralContainers[1].name: Duplicate value: "debug"`},
		{"target is ephemeral", `{"name":"debug","image":"i:1"},{"name":"a","image":"i","targetContainerName":"debug"}`,
			`spec.ephemeralContainers[1].targetContainerName: Not found: "debug"`},
		{"probe", `{"name":"debug","image":"i:1"},{"name":"a","image":"i","startupProbe":{"exec":{"command":["a"]}}}`,
			"spec.ephemeralContainers[1].startupProbe: Forbidden: cannot be set for an Ephemeral Container"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := put(row.containers)
			assert.Equal(t, http.StatusUnprocessableEntity, code)
			assert.Equal(t, `Pod "p" is invalid: `+row.want, answer["message"])
		})
	}
}

// A name that cannot be a path segment is rejected.
func TestInvalidPathNames(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ method, path, body, want string }{
		{"GET", apitest.PodsPath + "%2e%2e", "", `Name parameter invalid: "..": may not be '..'`},
		{"DELETE", apitest.PodsPath + "a%25b", "", `Name parameter invalid: "a%b": may not contain '%'`},
		{"PUT", apitest.PodsPath + "%2e/status", `{"metadata":{"name":"."}}`, `Name parameter invalid: ".": may not be '.'`},
		{"POST", apitest.PodsPath + "%2e%2e/eviction", `{"metadata":{"name":".."}}`, `Name parameter invalid: "..": may not be '..'`},
	} {
		t.Run(row.method, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, row.method, row.path, row.body)
			assert.Equal(t, http.StatusBadRequest, code)
			assert.Equal(t, row.want, answer["message"])
		})
	}
}

// A write to resize changes only resources. A write to the Pod does not change
// resources.
func TestResize(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, _ := apitest.Do(t, srv, "POST", apitest.PodsPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}}]}}`)
	require.Equal(t, http.StatusCreated, code)
	pod := func(image, cpu string) string {
		return fmt.Sprintf(`{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":%q,"resources":{"limits":{"cpu":"2"},"requests":{"cpu":%q}}}]}}`, image, cpu)
	}
	code, resized := apitest.Do(t, srv, "PUT", apitest.PodsPath+"p/resize", pod("other", "1500m"))
	require.Equal(t, http.StatusOK, code)
	containers, _ := resized["spec"].(map[string]any)["containers"].([]any)
	require.Len(t, containers, 1)
	c, _ := containers[0].(map[string]any)
	assert.Equal(t, "i", c["image"])
	assert.Equal(t, map[string]any{"limits": map[string]any{"cpu": "2"}, "requests": map[string]any{"cpu": "1500m"}}, c["resources"])
	meta, _ := resized["metadata"].(map[string]any)
	assert.EqualValues(t, 2, meta["generation"])
	assert.NotContains(t, meta, "labels")

	code, got := apitest.Do(t, srv, "GET", apitest.PodsPath+"p/resize", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, resized, got)
	code, _ = apitest.Do(t, srv, "PUT", apitest.PodsPath+"p", pod("i", "1"))
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	code, _ = apitest.Do(t, srv, "PUT", apitest.PodsPath+"p/resize", pod("i", "3"))
	assert.Equal(t, http.StatusUnprocessableEntity, code)
}

// A resize of an invalid Pod is not also refused for what it changes besides resources.
func TestResizeInvalid(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, _ := apitest.Do(t, srv, "POST", apitest.PodsPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	require.Equal(t, http.StatusCreated, code)
	code, answer := apitest.Do(t, srv, "PUT", apitest.PodsPath+"p/resize", `{"metadata":{"name":"p"},"spec":{"resources":{"claims":[{"name":"a"}]},"containers":[{"name":"c"}]}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.NotContains(t, answer["message"], "only cpu and memory resources are mutable")
}

// Admission sees the managed fields of an action, and the answer has those of a TokenRequest.
func TestManagedFieldsOfActions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods/binding", "pods/eviction"},
			}}},
			"validations": []any{map[string]any{"expression": "false", "messageExpression": "object.metadata.managedFields.map(m, m.manager + ' at ' + m.subresource)[0]"}},
		}},
		fakeapi.Object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "b"},
			"spec": map[string]any{"policyName": "p", "validationActions": []any{"Deny"}}},
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"default"}}`,
	))
	apitest.RunPod(t, srv, "p", "True")
	for _, tt := range []struct{ name, body string }{
		{"binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`},
		{"eviction", `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":1}}`},
	} {
		_, answer := apitest.Do(t, srv, "POST", apitest.PodsPath+"p/"+tt.name+"?fieldManager=m", tt.body)
		assert.Contains(t, answer["message"], "denied request: m at "+tt.name)
	}
	_, token := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/serviceaccounts/a/token?fieldManager=m", `{}`)
	meta, _ := token["metadata"].(map[string]any)
	fields, _ := meta["managedFields"].([]any)
	require.Len(t, fields, 1)
	entry, _ := fields[0].(map[string]any)
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:expirationSeconds": map[string]any{}}}, entry["fieldsV1"])
	assert.Equal(t, "token", entry["subresource"])
}

// A write of the status of a ReplicationController resets its labels, which have a default.
func TestLabelsOfReplicationControllerStatus(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/api/v1/namespaces/default/replicationcontrollers"
	apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a"},"spec":{"selector":{"app":"a"},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	_, put := apitest.Do(t, srv, "PUT", path+"/a/status", `{"metadata":{"name":"a"},"status":{"replicas":1}}`)
	_, got := apitest.Do(t, srv, "GET", path+"/a", "")
	for _, obj := range []fakeapi.Object{put, got} {
		assert.Equal(t, map[string]any{"app": "a"}, obj["metadata"].(map[string]any)["labels"])
	}
}

// An object that is not stored keeps the resourceVersion of the request.
func TestDryRunKeepsResourceVersion(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const body = `{"metadata":{"name":"a","resourceVersion":"5"}}`
	code, dry := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All", body)
	assert.Equal(t, http.StatusCreated, code)
	assert.Equal(t, "5", dry.ResourceVersion())
	code, _ = apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", body)
	assert.Equal(t, http.StatusInternalServerError, code)
}

//go:build go1.24

package pods_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestDefaultPod(t *testing.T) {
	const first = "spec.containers.0."
	kindtest.TestDefaults(t, "pods", []kindtest.Row{
		{"container", kindtest.Pod("", ""), "spec.containers.0", `{"name":"c","image":"i","resources":{},"imagePullPolicy":"Always","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}`},
		{"pod", `{"spec":{}}`, "spec", `{"containers":null,"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}`},
		{"container port", kindtest.Pod(`"ports":[{"containerPort":80}]`, ""), first + "ports.0", `{"containerPort":80,"protocol":"TCP"}`},
		{"host port with hostNetwork", kindtest.Pod(`"ports":[{"containerPort":80}]`, `"hostNetwork":true`), first + "ports.0.hostPort", `80`},
		{"requests from container limits", kindtest.Pod(`"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100u"}}`, ""), first + "resources.requests", `{"cpu":"1m","memory":"1Gi"}`},
		{"HTTP probe", kindtest.Pod(`"livenessProbe":{"httpGet":{"port":80}}`, ""), first + "livenessProbe", `{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}`},
		{"gRPC probe", kindtest.Pod(`"startupProbe":{"grpc":{"port":80}}`, ""), first + "startupProbe.grpc", `{"port":80,"service":""}`},
		{"lifecycle handler", kindtest.Pod(`"lifecycle":{"preStop":{"httpGet":{"port":80}}}`, ""), first + "lifecycle.preStop.httpGet.scheme", `"HTTP"`},
		{"fieldRef in env", kindtest.Pod(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`, ""), first + "env.0.valueFrom.fieldRef.apiVersion", `"v1"`},
		{"fileKeyRef in env", kindtest.Pod(`"env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}]`, ""), first + "env.0.valueFrom.fileKeyRef.optional", `false`},
		{"only serviceAccount", kindtest.Pod("", `"serviceAccount":"s"`), "spec.serviceAccountName", `"s"`},
		{"serviceAccount and serviceAccountName", kindtest.Pod("", `"serviceAccount":"s","serviceAccountName":"t"`), "spec.serviceAccount", `"t"`},
		{"negative grace period", kindtest.Pod("", `"terminationGracePeriodSeconds":-7`), "spec.terminationGracePeriodSeconds", `1`},
		{"init container annotations are removed", `{"metadata":{"annotations":{"pod.beta.kubernetes.io/init-containers":"x"}},"spec":{"containers":[]}}`, "metadata", `{}`},
		{"podIPs from podIP", `{"status":{"podIP":"10.0.0.1"}}`, "status.podIPs", `[{"ip":"10.0.0.1"}]`},
		{"podIP from podIPs", `{"status":{"podIPs":[{"ip":"10.0.0.1"}]}}`, "status.podIP", `"10.0.0.1"`},
	})
}

func TestDefaultVolume(t *testing.T) {
	volume := func(source string) string {
		return `{"spec":{"containers":[],"volumes":[{"name":"v"` + source + `}]}}`
	}
	kindtest.TestDefaults(t, "pods", []kindtest.Row{
		{"volume without source", volume(""), "spec.volumes.0", `{"name":"v","emptyDir":{}}`},
		{"hostPath", volume(`,"hostPath":{"path":"/"}`), "spec.volumes.0.hostPath.type", `""`},
		{"secret", volume(`,"secret":{}`), "spec.volumes.0.secret", `{"defaultMode":420}`},
		{"defaultMode 0", volume(`,"configMap":{"defaultMode":0}`), "spec.volumes.0.configMap", `{"defaultMode":0}`},
		{"projected", volume(`,"projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"n","fieldRef":{"fieldPath":"metadata.name"}}]}}]}`), "spec.volumes.0.projected",
			`{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}},{"downwardAPI":{"items":[{"path":"n","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}]}}]}`},
		{"azureDisk", volume(`,"azureDisk":{"diskName":"d","diskURI":"u"}`), "spec.volumes.0.azureDisk", `{"diskName":"d","diskURI":"u","cachingMode":"ReadWrite","fsType":"ext4","kind":"Shared","readOnly":false}`},
		{"image", volume(`,"image":{"reference":"a:1"}`), "spec.volumes.0.image.pullPolicy", `"IfNotPresent"`},
		{"ephemeral", volume(`,"ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1024Mi"}}}}}`), "spec.volumes.0.ephemeral.volumeClaimTemplate.spec", `{"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"}`},
	})
}

func TestDefaultPodResources(t *testing.T) {
	pod := func(resources string, containers string) string {
		return `{"spec":{"resources":` + resources + `,` + containers + `}}`
	}
	kindtest.TestCreates(t, "pods", []kindtest.Row{
		{"requests from limits", pod(`{"limits":{"cpu":"2","memory":"2Gi"}}`, `"containers":[{"name":"a"}]`), "spec.resources.requests", `{"cpu":"2","memory":"2Gi"}`},
		{"requests from containers", pod(`{"limits":{"cpu":"2","memory":"2Gi"}}`, `"containers":[{"name":"a","resources":{"requests":{"cpu":"100m"}}},{"name":"b","resources":{"requests":{"cpu":"250m"}}}]`), "spec.resources.requests", `{"cpu":"350m","memory":"2Gi"}`},
		{"no limits", pod(`{"requests":{"cpu":"2"}}`, `"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]`), "spec.resources", `{"requests":{"cpu":"2"}}`},
		{"init containers", pod(`{"limits":{"memory":"2Gi"}}`, `"containers":[{"name":"a","resources":{"requests":{"memory":"64Mi"}}}],"initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"memory":"1Mi"}}},{"name":"i","resources":{"requests":{"memory":"500Mi"}}}]`), "spec.resources.requests", `{"memory":"501Mi"}`},
		{"huge pages", pod(`{"limits":{"memory":"2Gi"}}`, `"containers":[{"name":"a","resources":{"limits":{"hugepages-2Mi":"4Mi"}}}]`), "spec.resources", `{"limits":{"memory":"2Gi","hugepages-2Mi":"4Mi"},"requests":{"memory":"2Gi","hugepages-2Mi":"4Mi"}}`},
	})
}

func TestCreatePod(t *testing.T) {
	const profile = `"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"`
	kindtest.TestCreates(t, "pods", []kindtest.Row{
		{"initial status", kindtest.Pod("", ""), "status", `{"phase":"Pending","qosClass":"BestEffort"}`},
		{"condition for scheduling gates", kindtest.Pod("", `"schedulingGates":[{"name":"g"}]`), "status.conditions", `[{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"Scheduling is blocked due to non-empty scheduling gates","lastProbeTime":null,"lastTransitionTime":"2024-01-02T03:04:05Z"}]`},
		{"matchLabelKeys", kindtest.Pod("", `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["a","x"]}]`), "spec.topologySpreadConstraints.0.labelSelector", `{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}`},
		{"mismatchLabelKeys", kindtest.Pod("", `"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{},"mismatchLabelKeys":["b"]}]}}`), "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector", `{"matchExpressions":[{"key":"b","operator":"NotIn","values":["2"]}]}`},
		{"matchLabelKeys without labelSelector", kindtest.Pod("", `"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"z","matchLabelKeys":["a"]}}]}}`), "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.podAffinityTerm.labelSelector", ``},
		{"AppArmor annotation", `{` + profile + `localhost/p"}},"spec":{"containers":[{"name":"c"}]}}`, "spec.containers.0.securityContext", `{"appArmorProfile":{"type":"Localhost","localhostProfile":"p"}}`},
		{"AppArmor annotation equal to the pod-level profile", `{` + profile + `runtime/default"}},"spec":{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c"}]}}`, "spec.containers.0.securityContext", ``},
		{"invalid AppArmor annotation", `{` + profile + `localhost/"}},"spec":{"containers":[{"name":"c"}]}}`, "spec.containers.0.securityContext", ``},
		{"field of a disabled feature gate", kindtest.Pod(`"lifecycle":{"stopSignal":"SIGTERM"}`, ""), "spec.containers.0.lifecycle", ``},
		{"projection", kindtest.Pod("", `"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"n","path":"p"}}]}}]`), "spec.volumes.0.projected.sources", `[{"clusterTrustBundle":{"name":"n","path":"p"}}]`},
	})
	before := kindtest.TypeIn(t, "v1.36-all", "pods")
	t.Run("projection of a disabled feature gate", func(t *testing.T) {
		pod := kindtest.Create(t, before, kindtest.Pod("", `"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"n","path":"p"}}]}}]`))
		assert.Equal(t, []any{map[string]any{}}, kindtest.At(pod, "spec.volumes.0.projected.sources"))
	})
}

func TestUpdatePod(t *testing.T) {
	kindtest.TestUpdates(t, "pods", []kindtest.Change{
		{"status is unchanged", kindtest.Pod("", ""), `{"status":{"phase":"Running"}}`, "status", `{"phase":"Pending","qosClass":"BestEffort"}`},
	})
}

// TestEmptyResources checks that empty limits do not change a Pod, nor raise its generation.
func TestEmptyResources(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	none := kindtest.Create(t, typ, `{"spec":{"containers":[{"name":"c"}]}}`)
	empty := kindtest.Create(t, typ, `{"spec":{"containers":[{"name":"c","resources":{"limits":{},"requests":{}}}]}}`)
	assert.True(t, validation.Equal(none["spec"], empty["spec"]))
}

func TestPodStatus(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	old := kindtest.Create(t, typ, kindtest.Pod("", ""))
	old["status"] = map[string]any{
		"qosClass": "Burstable", "observedGeneration": int64(3),
		"conditions": []any{map[string]any{"type": "A", "observedGeneration": int64(2)}, map[string]any{"type": "A", "observedGeneration": int64(1)}},
	}
	obj := kindtest.Decode(t, typ, `{"status":{"phase":"Running","conditions":[{"type":"A"},{"type":"B"},{"type":"A","observedGeneration":4}]}}`)
	typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
	assert.Equal(t, old["spec"], obj["spec"])
	assert.Equal(t, "Burstable", kindtest.At(obj, "status.qosClass"), "qosClass is kept")
	assert.Equal(t, int64(3), kindtest.At(obj, "status.observedGeneration"))
	assert.Equal(t, int64(2), kindtest.At(obj, "status.conditions.0.observedGeneration"))
	assert.Nil(t, kindtest.At(obj, "status.conditions.1.observedGeneration"))
	assert.Equal(t, int64(4), kindtest.At(obj, "status.conditions.2.observedGeneration"))
}

// A write to the status keeps what it leaves out about claims since v1.37. An empty list removes it.
func TestPodStatusKeepsClaims(t *testing.T) {
	claims := []any{map[string]any{"name": "c", "resourceClaimName": "x"}}
	for release, want := range map[string]any{"v1.37": claims, "v1.36": nil} {
		typ := kindtest.TypeIn(t, release, "pods")
		old := kindtest.Create(t, typ, kindtest.Pod("", ""))
		old["status"] = map[string]any{"resourceClaimStatuses": claims}
		obj := kindtest.Decode(t, typ, `{"status":{"phase":"Running"}}`)
		typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
		assert.Equal(t, want, kindtest.At(obj, "status.resourceClaimStatuses"), release)
		obj = kindtest.Decode(t, typ, `{"status":{"resourceClaimStatuses":[]}}`)
		typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
		assert.Empty(t, kindtest.At(obj, "status.resourceClaimStatuses"), release)
	}
}

// TestSubresourcesDropDisabledFields checks that writes to subresources drop the
// fields of disabled feature gates, as writes to the Pod do.
func TestSubresourcesDropDisabledFields(t *testing.T) {
	typ := kindtest.TypeOf(t, "pods")
	const debug = `"ephemeralContainers":[{"name":"d","image":"i","lifecycle":{"stopSignal":"SIGTERM"}}]`
	const status = `{"status":{"nodeAllocatableResourceClaimStatuses":[{}],"containerStatuses":[{"name":"c","volumeMounts":[{"name":"v","mountPath":"/","volumeStatus":{}}]}]}}`
	old := kindtest.Create(t, typ, kindtest.Pod("", ""))
	was := object.Copy(old)

	obj := kindtest.Decode(t, typ, kindtest.Pod("", debug))
	typ.SubresourceStrategies["ephemeralcontainers"].Prepare(obj, object.ViewOf(old))
	assert.Equal(t, "d", kindtest.At(obj, "spec.ephemeralContainers.0.name"))
	assert.Nil(t, kindtest.At(obj, "spec.ephemeralContainers.0.lifecycle"))

	obj = kindtest.Decode(t, typ, kindtest.Pod("", `"initContainers":[{"name":"d","image":"i","lifecycle":{"stopSignal":"SIGTERM"}}]`))
	typ.SubresourceStrategies["resize"].Prepare(obj, object.ViewOf(old))
	assert.Nil(t, kindtest.At(obj, "spec.initContainers.0.lifecycle"))

	obj = kindtest.Decode(t, typ, status)
	typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
	assert.Nil(t, kindtest.At(obj, "status.nodeAllocatableResourceClaimStatuses"))
	assert.Equal(t, map[string]any{"name": "v", "mountPath": "/"}, kindtest.At(obj, "status.containerStatuses.0.volumeMounts.0"))
	assert.Equal(t, was, old)
}

// FuzzDefaultPod checks that defaulting and Prepare accept every decoded Pod, and
// that defaulting returns a canonical object.
func FuzzDefaultPod(f *testing.F) {
	f.Add([]byte(kindtest.Pod(`"ports":[{}],"livenessProbe":{"grpc":{}},"env":[{"valueFrom":{}}]`, `"volumes":[{},{"name":"v"}],"affinity":{}`)))
	f.Add([]byte(`{"spec":{"resources":{"limits":{"cpu":"1n"}},"initContainers":[{"resources":{"limits":{"cpu":"2"}}}]},"status":{"podIP":"x"}}`))
	typ := kindtest.TypeOf(f, "pods")
	f.Fuzz(func(t *testing.T, body []byte) {
		obj, _, err := typ.Codec.Decode(body, false)
		if err != nil {
			return
		}
		typ.Default(obj)
		normal, _, err := typ.Codec.Normalize(obj, false)
		assert.NoError(t, err)
		assert.Equal(t, normal, obj)
		typ.Prepare(obj, object.View{})
		typ.Prepare(object.Copy(normal), object.ViewOf(obj))
	})
}

func BenchmarkPod(b *testing.B) {
	typ := kindtest.TypeOf(b, "pods")
	pod, _, err := typ.Codec.Decode([]byte(kindtest.Pod(
		`"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}},"livenessProbe":{"httpGet":{"port":80}}`,
		`"volumes":[{"name":"v","configMap":{"name":"m"}}]`)), true)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("copy", func(b *testing.B) { // cost of the copy in the other benchmarks
		for b.Loop() {
			object.Copy(pod)
		}
	})
	b.Run("default", func(b *testing.B) {
		for b.Loop() {
			typ.Default(object.Copy(pod))
		}
	})
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			obj := object.Copy(pod)
			typ.Default(obj)
			typ.Prepare(obj, object.View{})
		}
	})
}

func TestSelectableFields(t *testing.T) {
	pod := map[string]any{
		"spec":   map[string]any{"nodeName": "n", "hostNetwork": true},
		"status": map[string]any{"phase": "Running", "podIPs": []any{map[string]any{"ip": "10.0.0.1"}, map[string]any{"ip": "fd::1"}}},
	}
	want := map[string]string{
		"spec.nodeName": "n", "spec.host": "n", "spec.hostNetwork": "true",
		"status.phase": "Running", "status.podIP": "10.0.0.1", "status.podIPs": "10.0.0.1",
		"spec.restartPolicy": "",
	}
	got := map[string]string{}
	for _, f := range kindtest.TypeOf(t, "pods").SelectableFields {
		got[f.Label] = f.Value(pod)
	}
	for label, value := range want {
		assert.Equal(t, value, got[label], label)
	}
	assert.Equal(t, "false", kindtest.TypeOf(t, "nodes").SelectableFields[0].Value(map[string]any{}), "default of spec.unschedulable")
}

func TestPodGrace(t *testing.T) {
	pod := func(node, phase string, own any) map[string]any {
		return map[string]any{
			"spec":   map[string]any{"nodeName": node, "terminationGracePeriodSeconds": own},
			"status": map[string]any{"phase": phase},
		}
	}
	five := int64(5)
	for _, row := range []struct {
		name      string
		pod       map[string]any
		requested *int64
		want      int64
	}{
		{"grace period of the pod", pod("n", "Running", int64(60)), nil, 60},
		{"default grace period", pod("n", "Running", nil), nil, 30},
		{"requested grace period", pod("n", "Running", int64(60)), &five, 5},
		{"pod without node", pod("", "Pending", int64(60)), &five, 0},
		{"succeeded pod", pod("n", "Succeeded", int64(60)), nil, 0},
		{"negative", pod("n", "Running", int64(-3)), nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, graceful := kindtest.TypeOf(t, "pods").CheckGracefulDelete(row.pod, row.requested)
			assert.True(t, graceful)
			assert.Equal(t, row.want, got)
		})
	}
}

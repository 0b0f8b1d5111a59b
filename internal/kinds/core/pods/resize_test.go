package pods_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

// TestResizeInReleases checks what each release lets pods/resize change.
func TestResizeInReleases(t *testing.T) {
	const (
		bare     = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		sized    = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{"memory":"2"}}}]}}`
		gpu      = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{"x.y/gpu":"1"}}}]}}`
		inits    = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		podLevel = `{"metadata":{"name":"p","namespace":"n"},"spec":{"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"i"}]}}`

		onlyCompute = "spec: Forbidden: only cpu and memory resources are mutable"
		resizedInit = `{"spec":{"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"2"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		removedInit = `{"spec":{"initContainers":[{"name":"i","image":"i"},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}`
		sidecarDisk = `{"spec":{"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}},{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1","ephemeral-storage":"1"}}}]}}`
		storage     = `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"ephemeral-storage":"1"}}}]}}`
		moreCPU     = `{"spec":{"resources":{"requests":{"cpu":"2"}}}}`
	)
	limits := func(list string) string {
		return `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"2"},"limits":{` + list + `}}}]}}`
	}
	for _, tt := range []struct {
		name, release, old, patch string
		errors                    []string
	}{
		{"limits of a container without any", "1.34", bare, storage, nil},
		{"limits of a container without any", "1.35", bare, storage, []string{onlyCompute}},
		{"one more limit", "1.34", sized, limits(`"memory":"2","ephemeral-storage":"1"`), []string{onlyCompute}},
		{"less memory", "1.33", sized, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1"},"limits":{"memory":"1"}}}]}}`,
			[]string{"spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer"}},
		{"less memory", "1.34", sized, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1"},"limits":{"memory":"1"}}}]}}`, nil},
		{"memory limit", "1.33", gpu, limits(`"x.y/gpu":"1","memory":"3"`),
			[]string{"spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer"}},
		{"memory limit", "1.34", gpu, limits(`"x.y/gpu":"1","memory":"3"`), nil},
		{"init container", "1.35", inits, resizedInit, []string{"spec: Forbidden: resources for non-sidecar init containers are immutable"}},
		{"init container", "1.36", inits, resizedInit, nil},
		{"request of an init container removed", "1.35", inits, removedInit, []string{"spec: Forbidden: resources for non-sidecar init containers are immutable"}},
		{"request of an init container removed", "1.36", inits, removedInit, []string{"spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed"}},
		{"storage of a sidecar", "1.35", inits, sidecarDisk, []string{"spec: Forbidden: only cpu and memory resources for sidecar containers are mutable"}},
		{"storage of a sidecar", "1.36", inits, sidecarDisk, []string{"spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"}},
		{"resources of the Pod", "1.34", podLevel, moreCPU, []string{"[]: Forbidden: pods with pod-level resources cannot be resized"}},
		{"resources of the Pod", "1.35", podLevel, moreCPU,
			[]string{"[]: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"}},
		{"resources of the Pod", "1.36", podLevel, moreCPU, nil},
	} {
		t.Run(tt.release+" "+tt.name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, tt.release, "pods")
			old := kindtest.Create(t, typ, tt.old)
			doc, err := json.Marshal(old)
			require.NoError(t, err)
			obj := kindtest.Decode(t, typ, kindtest.MergePatch(t, string(doc), tt.patch))
			resize := typ.SubresourceStrategies["resize"]
			resize.Prepare(obj, object.ViewOf(old))
			var errs []string
			for _, e := range resize.Validate(obj, object.ViewOf(old)) {
				errs = append(errs, e.Error())
			}
			assert.Equal(t, tt.errors, errs)
		})
	}
}

// TestResizeOfVolumes checks which volumes pods/resize changes with the gate
// InPlacePodVerticalScalingMemoryBackedVolumes.
func TestResizeOfVolumes(t *testing.T) {
	const old = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},{"name":"d","emptyDir":{"sizeLimit":"1Mi"}}]}}`
	volumes := func(memory, disk string) string {
		return `{"spec":{"volumes":[` + memory + `,` + disk + `]}}`
	}
	const memory, disk = `{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}}`, `{"name":"d","emptyDir":{"sizeLimit":"1Mi"}}`
	for _, tt := range []struct {
		name, patch string
		on          bool
		limit       string // of the first volume
		errors      []string
	}{
		{"without the gate", volumes(`{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"2Mi"}}`, disk), false, "1Mi", nil},
		{"limit in memory", volumes(`{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"2Mi"}}`, disk), true, "2Mi", nil},
		{"same limit in other words", volumes(`{"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1024Ki"}}`, disk), true, "1Mi", nil},
		{"limit on disk", volumes(memory, `{"name":"d","emptyDir":{"sizeLimit":"2Mi"}}`), true, "1Mi",
			[]string{"spec.volumes[1].emptyDir.sizeLimit: Forbidden: sizeLimit is only mutable for memory-backed emptyDir volumes"}},
		{"limit removed", volumes(`{"name":"m","emptyDir":{"medium":"Memory"}}`, disk), true, "",
			[]string{"spec.volumes[0].emptyDir.sizeLimit: Forbidden: adding or removing sizeLimit on an existing volume is not allowed"}},
		{"medium", volumes(`{"name":"m","emptyDir":{"sizeLimit":"1Mi"}}`, disk), true, "1Mi",
			[]string{"spec.volumes[0]: Forbidden: only sizeLimit of memory-backed emptyDir volumes is mutable on resize"}},
		{"another kind of volume", volumes(`{"name":"m","configMap":{"name":"c"}}`, disk), true, "",
			[]string{"spec.volumes[0]: Forbidden: only sizeLimit of memory-backed emptyDir volumes is mutable on resize"}},
		{"other order", volumes(disk, memory), true, "1Mi",
			[]string{"spec.volumes[0].name: Forbidden: volumes may not be renamed or reordered on resize", "spec.volumes[1].name: Forbidden: volumes may not be renamed or reordered on resize"}},
		{"removed", `{"spec":{"volumes":[` + memory + `]}}`, true, "1Mi", []string{"spec.volumes: Forbidden: volumes may not be added or removed on resize"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := kindtest.TypeWith(t, "pods", map[string]bool{"InPlacePodVerticalScalingMemoryBackedVolumes": tt.on})
			old := kindtest.Create(t, typ, old)
			doc, err := json.Marshal(old)
			require.NoError(t, err)
			obj := kindtest.Decode(t, typ, kindtest.MergePatch(t, string(doc), tt.patch))
			resize := typ.SubresourceStrategies["resize"]
			resize.Prepare(obj, object.ViewOf(old))
			var errs []string
			for _, e := range resize.Validate(obj, object.ViewOf(old)) {
				errs = append(errs, e.Error())
			}
			assert.Equal(t, tt.errors, errs)
			assert.Equal(t, tt.limit, object.String(object.List(obj, "spec", "volumes")[0].(map[string]any), "emptyDir", "sizeLimit"))
		})
	}
}

// TestResizeCoversClaims has the errors of kube-apiserver v1.37.2 about Pods with claims for resources
// that their node has as allocatable.
func TestResizeCoversClaims(t *testing.T) {
	const (
		claim   = `"resourceClaimName":"claim"`
		podCPU  = `{"requests":{"cpu":"10"}}`
		limited = `{"requests":{"cpu":"1"},"limits":{"cpu":"10"}}`
		one     = `{"name":"a","image":"i","resources":{"requests":{"cpu":"2"}}}`
		two     = one + `,{"name":"b","image":"i"}`
		onLimit = `{"name":"a","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}},{"name":"b","image":"i"}`
		mapping = claim + `,"containers":["a"],"mapping":[{"name":"cpu","quantity":"4"}]`
		both    = claim + `,"containers":["a","b"],"overhead":[{"name":"cpu","perPod":"1","perContainer":"1"}]`
		ofOne   = claim + `,"containers":["a"],"overhead":[{"name":"cpu","perContainer":"4"}]`
		uncover = `pod level request for cpu is insufficient to cover the aggregated container and node-allocatable DRA requests`
	)
	request := func(cpu string) string { return `{"requests":{"cpu":"` + cpu + `"}}` }
	bad := func(resources, detail string) string {
		return `spec.resources: Invalid value: ` + resources + `: ` + detail
	}
	alpha := map[string]bool{"DRANodeAllocatableResources": true}
	for _, r := range []struct {
		name, podLevel, containers, claim, to string
		gates                                 map[string]bool
		want                                  string
	}{
		{"mapping covered", podCPU, one, mapping, request("6"), alpha, ""},
		{"mapping", podCPU, one, mapping, request("5"), alpha, bad(`{"Limits":null,"Requests":{"cpu":"5"},"Claims":null}`, uncover)},
		{"mapping with the gate off", podCPU, one, mapping, request("5"), nil, ""},
		{"mapping without a request", podCPU, `{"name":"a","image":"i"}`, mapping, request("3"), alpha, bad(`{"Limits":null,"Requests":{"cpu":"3"},"Claims":null}`, uncover)},
		{"overhead covered", podCPU, two, both, request("5"), alpha, ""},
		{"overhead", podCPU, two, both, request("4"), alpha, bad(`{"Limits":null,"Requests":{"cpu":"4"},"Claims":null}`, uncover)},
		{"limit of a container covered", limited, onLimit, ofOne, `{"requests":{"cpu":"5"},"limits":{"cpu":"6"}}`, alpha, ""},
		{"limit of a container", limited, onLimit, ofOne, `{"requests":{"cpu":"5"},"limits":{"cpu":"5"}}`, alpha,
			bad(`{"Limits":{"cpu":"5"},"Requests":{"cpu":"5"},"Claims":null}`, "pod level limit for cpu is insufficient to cover the limit and DRA overhead for container a")},
		{"limit of another container", limited, onLimit, claim + `,"containers":["b"],"mapping":[{"name":"cpu","quantity":"4"}]`, `{"requests":{"cpu":"5"},"limits":{"cpu":"5"}}`, alpha, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			typ := kindtest.TypeWith(t, "pods", r.gates)
			old := kindtest.Create(t, typ, `{"metadata":{"name":"p","namespace":"n"},"spec":{"resources":`+r.podLevel+`,"containers":[`+r.containers+`]}}`)
			claims := kindtest.Decode(t, typ, `{"status":{"nodeAllocatableResourceClaimStatuses":[{`+r.claim+`}]}}`)
			object.Set(old, kindtest.At(claims, "status.nodeAllocatableResourceClaimStatuses"), "status", "nodeAllocatableResourceClaimStatuses")
			obj := object.Copy(old)
			object.Set(obj, kindtest.At(kindtest.Decode(t, typ, `{"spec":{"resources":`+r.to+`}}`), "spec.resources"), "spec", "resources")
			resize := typ.SubresourceStrategies["resize"]
			resize.Prepare(obj, object.ViewOf(old))
			var errs []string
			for _, e := range resize.ValidateAll(context.Background(), obj, object.ViewOf(old), nil) {
				errs = append(errs, e.Error())
			}
			assert.Equal(t, r.want, kindtest.Errors(errs...))
		})
	}
}

// TestResizeBesideClaims checks in which releases a Pod with claims for resources that its node has as
// allocatable can be resized.
func TestResizeBesideClaims(t *testing.T) {
	for release, want := range map[string]string{"v1.36": "spec: Forbidden: pods with node allocatable resource claims cannot be resized", "v1.37": ""} {
		typ := kindtest.TypeIn(t, release, "pods")
		old := kindtest.Create(t, typ, `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`)
		object.Set(old, []any{map[string]any{"resourceClaimName": "claim"}}, "status", "nodeAllocatableResourceClaimStatuses")
		obj := object.Copy(old)
		obj["spec"] = kindtest.Decode(t, typ, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1500m"}}}]}}`)["spec"]
		resize := typ.SubresourceStrategies["resize"]
		resize.Prepare(obj, object.ViewOf(old))
		var errs []string
		for _, e := range resize.ValidateAll(context.Background(), obj, object.ViewOf(old), nil) {
			errs = append(errs, e.Error())
		}
		assert.Equal(t, want, kindtest.Errors(errs...), release)
	}
}

package limitranger_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitranger"
)

func limitRange(limits string) string {
	return `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l","namespace":"n"},"spec":{"limits":[` + limits + `]}}`
}

// pod returns a pod with a container in the namespace of limitRange.
func pod(resources, spec string) string {
	return `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{` + resources + `}}]` + spec + `}}`
}

func TestPods(t *testing.T) {
	defaults := []string{limitRange(`{"type":"Container","default":{"cpu":"2","memory":"1Gi"},"defaultRequest":{"cpu":"500m"}}`)}
	containerLimit := []string{limitRange(`{"type":"Container","min":{"cpu":"100m"},"max":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"2"}}`)}
	oddRatio := []string{limitRange(`{"type":"Container","maxLimitRequestRatio":{"cpu":"2007m"}}`)}
	deleted := strings.Replace(pod("", ""), `"name":"p"`, `"name":"p","deletionTimestamp":"2024-01-02T03:04:05Z"`, 1)
	podLimit := []string{limitRange(`{"type":"Pod","max":{"cpu":"3"}}`)}
	sidecar := `,"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","resources":{"limits":{"cpu":"1500m"}}}]`
	tooSmall := pod(`"limits":{"cpu":"100m"},"requests":{"cpu":"50m"}`, "")
	const tooSmallError = "minimum cpu usage per Container is 100m, but request is 50m"
	admissiontest.Run(t, limitranger.Plugin{}, []admissiontest.Request{
		{Name: "default limit", Resource: "pods", Objects: defaults, Object: pod(`"limits":{"cpu":"3"}`, ""), Path: "spec.containers.0.resources", Want: `{"limits":{"cpu":"3","memory":"1Gi"},"requests":{"cpu":"3"}}`},
		{Name: "default request", Resource: "pods", Objects: defaults, Object: pod("", ""), Path: "spec.containers.0.resources.requests", Want: `{"cpu":"500m"}`},
		{Name: "annotation", Resource: "pods", Objects: defaults, Object: pod("", ""), Path: `metadata.annotations`, Want: `{"kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c"}`},
		{Name: "default of a resized pod", Resource: "pods", Subresource: "resize", Objects: defaults, Object: pod(`"limits":{"cpu":"3"}`, ""), Old: pod("", ""), Path: "spec.containers.0.resources.limits", Want: `{"cpu":"3","memory":"1Gi"}`},
		{Name: "default of a resized pod that is being deleted", Resource: "pods", Subresource: "resize", Objects: defaults, Object: pod(`"limits":{"cpu":"3"}`, ""), Old: deleted, Path: "spec.containers.0.resources.limits", Want: `{"cpu":"3"}`},
		{Name: "update without defaults", Resource: "pods", Objects: defaults, Object: pod("", ""), Old: pod("", ""), Path: "metadata.annotations"},
		{Name: "other namespace", Resource: "pods", Objects: defaults, Object: strings.Replace(pod("", ""), `"n"`, `"other"`, 1), Path: "metadata.annotations"},
		{Name: "binding", Resource: "pods", Subresource: "binding", Objects: defaults, Object: pod("", ""), Path: "metadata.annotations"},
		{Name: "within the limits", Resource: "pods", Objects: containerLimit, Object: pod(`"limits":{"cpu":"1"},"requests":{"cpu":"500m"}`, ""), Path: "metadata.annotations"},
		{Name: "below min", Resource: "pods", Objects: containerLimit, Object: tooSmall, Error: tooSmallError},
		{Name: "update", Resource: "pods", Objects: containerLimit, Object: tooSmall, Old: tooSmall},
		{Name: "resize", Resource: "pods", Subresource: "resize", Objects: containerLimit, Object: tooSmall, Old: tooSmall, Error: tooSmallError},
		{Name: "resize of a pod that is being deleted", Resource: "pods", Subresource: "resize", Objects: containerLimit, Object: tooSmall, Old: deleted},
		{Name: "above max", Resource: "pods", Objects: containerLimit, Object: pod(`"limits":{"cpu":"1500m"},"requests":{"cpu":"1"}`, ""), Error: "maximum cpu usage per Container is 1, but limit is 1500m"},
		{Name: "above maxLimitRequestRatio", Resource: "pods", Objects: containerLimit, Object: pod(`"limits":{"cpu":"1"},"requests":{"cpu":"400m"}`, ""), Error: "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"},
		{Name: "equal to maxLimitRequestRatio", Resource: "pods", Objects: containerLimit, Object: pod(`"limits":{"cpu":"1"},"requests":{"cpu":"500m"}`, ""), Path: "metadata.annotations"},
		{Name: "ratio rounded up", Resource: "pods", Objects: oddRatio, Object: pod(`"limits":{"cpu":"2007m"},"requests":{"cpu":"1"}`, ""), Error: "cpu max limit to request ratio per Container is 2007m, but provided ratio is 2.007000"},
		{Name: "ratio of large quantities", Resource: "pods", Objects: oddRatio, Object: pod(`"limits":{"cpu":"1e16"},"requests":{"cpu":"9e15"}`, ""), Path: "metadata.annotations"},
		{Name: "no resources", Resource: "pods", Objects: containerLimit, Object: pod("", ""), Error: "[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]"},
		{Name: "sum of the containers", Resource: "pods", Objects: podLimit, Object: pod(`"limits":{"cpu":"2"}`, sidecar), Error: "maximum cpu usage per Pod is 3, but limit is 3500m"},
		{Name: "pod-level resources", Resource: "pods", Objects: podLimit, Object: pod(`"limits":{"cpu":"2"}`, sidecar+`,"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}`), Path: "metadata.annotations"},
	})
}

func TestClaims(t *testing.T) {
	limits := []string{limitRange(`{"type":"PersistentVolumeClaim","min":{"storage":"2Gi"},"max":{"storage":"500Mi"}}`)}
	const claim = `{"metadata":{"name":"c","namespace":"n"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}`
	const deleted = `{"metadata":{"name":"c","namespace":"n","deletionTimestamp":"2024-01-02T03:04:05Z"},"spec":{}}`
	const refused = "[minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi, maximum storage usage per PersistentVolumeClaim is 500Mi, but request is 1Gi]"
	admissiontest.Run(t, limitranger.Plugin{}, []admissiontest.Request{
		{Name: "create", Resource: "persistentvolumeclaims", Objects: limits, Object: claim, Error: refused},
		{Name: "update", Resource: "persistentvolumeclaims", Objects: limits, Object: claim, Old: claim, Error: refused},
		{Name: "update while being deleted", Resource: "persistentvolumeclaims", Objects: limits, Object: claim, Old: deleted},
		{Name: "status", Resource: "persistentvolumeclaims", Subresource: "status", Objects: limits, Object: claim, Old: claim},
	})
}

package controllers_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/kubelet"
	"github.com/kubefake/kubefake/internal/object"
)

const autoscalingControllers = "deployment-controller,replicaset-controller,scheduler,kubelet,serviceaccount-controller,horizontal-pod-autoscaler-controller"

// startAutoscaling starts a server with a Deployment of Pods that request 100m of CPU and 1Gi of
// memory, for five minutes: then the CPU of Pods counts in any case.
func startAutoscaling(t *testing.T, replicas int, options ...fakeapi.Option) cluster {
	c := startCluster(t, autoscalingControllers, options...)
	c.Settle()
	c.Create("/apis/apps/v1/namespaces/default/deployments", fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
spec: {replicas: %d, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m, memory: 1Gi}}}]}}}}`, replicas))
	c.Wait(5 * time.Minute)
	return c
}

func autoscale(c cluster, spec string) {
	c.Create("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", fmt.Sprintf(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler,
metadata: {name: hpa}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, %s}}`, spec))
}

func webReplicas(c cluster) int64 {
	n, _ := object.Int(c.Get("deployments", "default", "web"), "spec", "replicas")
	return n
}

func hpaCondition(c cluster, typ string) string {
	return condition(c.Get("horizontalpodautoscalers", "default", "hpa"), typ)
}

const halfCPU = `minReplicas: 1, maxReplicas: 10, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]`

func TestPodAutoscalerMetrics(t *testing.T) {
	t.Parallel()
	const (
		memory   = `maxReplicas: 10, metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 512Mi}}}]`
		inC      = `maxReplicas: 10, metrics: [{type: ContainerResource, containerResource: {name: cpu, container: c, target: {type: Utilization, averageUtilization: 50}}}]`
		requests = `maxReplicas: 10, metrics: [{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: "10"}}}]`
		queue    = `maxReplicas: 10, metrics: [{type: External, external: {metric: {name: queue, selector: {matchLabels: {q: a}}}, target: {type: AverageValue, averageValue: "30"}}}]`
		queueV   = `maxReplicas: 10, metrics: [{type: External, external: {metric: {name: queue}, target: {type: Value, value: "100"}}}]`
		hits     = `maxReplicas: 10, metrics: [{type: Object, object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: web}, target: {type: Value, value: "100"}}}]`
	)
	pods := func(set func(kubelet.Pods) error) func(*fakeapi.Server) error {
		return func(s *fakeapi.Server) error { return set(s.Kubelet().Pods("app=web")) }
	}
	use := func(resource, quantity string) func(*fakeapi.Server) error {
		return pods(func(p kubelet.Pods) error { return p.SetUsage(resource, quantity) })
	}
	metric := func(name, quantity string) func(*fakeapi.Server) error {
		return func(s *fakeapi.Server) error { return s.Kubelet().SetMetric(name, quantity) }
	}
	const valid = "True ValidMetricFound the HPA was able to successfully calculate a replica count from "
	for _, row := range []struct {
		name   string
		spec   string
		set    func(*fakeapi.Server) error
		want   int64 // replicas, of 2
		active string
		status any // of the metric
	}{
		{"more CPU than the target", halfCPU, use("cpu", "80m"), 4, valid + "cpu resource utilization (percentage of request)",
			map[string]any{"averageUtilization": int64(80), "averageValue": "80m"}},
		{"about the target", halfCPU, use("cpu", "54m"), 2, valid + "cpu resource utilization (percentage of request)",
			map[string]any{"averageUtilization": int64(54), "averageValue": "54m"}},
		{"less than the target", halfCPU, use("cpu", "10m"), 2, valid + "cpu resource utilization (percentage of request)",
			map[string]any{"averageUtilization": int64(10), "averageValue": "10m"}},
		{"far more than the limit of a scale-up", halfCPU, use("cpu", "1"), 4, valid + "cpu resource utilization (percentage of request)",
			map[string]any{"averageUtilization": int64(1000), "averageValue": "1"}},
		{"memory", memory, use("memory", "768Mi"), 3, valid + "memory resource", map[string]any{"averageValue": "768Mi"}},
		{"a container", inC, use("cpu", "75m"), 3, valid + "cpu container resource utilization (percentage of request)",
			map[string]any{"averageUtilization": int64(75), "averageValue": "75m"}},
		{"a metric of Pods", requests, pods(func(p kubelet.Pods) error { return p.SetMetric("rps", "15") }), 3, valid + "pods metric rps",
			map[string]any{"averageValue": "15"}},
		{"an average of an external metric", queue, metric("queue", "90"), 3,
			valid + "external metric queue(&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},})",
			map[string]any{"averageValue": "45"}},
		{"a value of an external metric", queueV, metric("queue", "150"), 3, valid + "external metric queue(nil)", map[string]any{"value": "150"}},
		{"a metric of an object", hits, metric("hits", "150"), 3, valid + "Service metric hits", map[string]any{"value": "150"}},
		{"no metrics-server", halfCPU, nil, 2, "False FailedGetResourceMetric the HPA was unable to compute the replica count: failed to get cpu utilization: " +
			"unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)", nil},
		{"no metric of the resource", halfCPU, use("memory", "1Gi"), 2, "False FailedGetResourceMetric the HPA was unable to compute the replica count: failed to get cpu utilization: " +
			"unable to get metrics for resource cpu: no metrics returned from resource metrics API", nil},
		{"no external metric", queueV, nil, 2, "False FailedGetExternalMetric the HPA was unable to compute the replica count: failed to get external metric queue: " +
			"unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)", nil},
		{"no metric of an object", hits, nil, 2, "False FailedGetObjectMetric the HPA was unable to compute the replica count: " +
			"unable to get metric hits on Service default/web: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startAutoscaling(t, 2)
			if row.set != nil {
				require.NoError(t, row.set(c.Server))
			}
			autoscale(c, row.spec)
			c.Settle()
			assert.Equal(t, row.want, webReplicas(c))
			assert.Equal(t, row.active, hpaCondition(c, "ScalingActive"))
			if row.status == nil {
				return
			}
			hpa := c.Get("horizontalpodautoscalers", "default", "hpa")
			status := object.List(hpa, "status", "currentMetrics")[0].(map[string]any)
			for name, v := range status {
				if name != "type" {
					assert.Equal(t, row.status, v.(map[string]any)["current"])
				}
			}
		})
	}
}

// A Deployment follows its load up at once, and down after five minutes.
func TestPodAutoscalerStabilization(t *testing.T) {
	t.Parallel()
	c := startAutoscaling(t, 2)
	require.NoError(t, c.Kubelet().Pods("app=web").SetUsage("cpu", "100m"))
	autoscale(c, halfCPU)
	c.Settle()
	assert.EqualValues(t, 4, webReplicas(c))
	assert.Contains(t, c.Events("hpa"), "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target")
	assert.Equal(t, "True SucceededRescale the HPA controller was able to update the target scale to 4", hpaCondition(c, "AbleToScale"))

	require.NoError(t, c.Kubelet().Pods("app=web").SetUsage("cpu", "50m"))
	c.Wait(time.Minute)
	require.NoError(t, c.Kubelet().Pods("app=web").SetUsage("cpu", "10m"))
	c.Wait(time.Minute)
	assert.EqualValues(t, 4, webReplicas(c))
	assert.Equal(t, "True ScaleDownStabilized recent recommendations were higher than current one, applying the highest recent recommendation", hpaCondition(c, "AbleToScale"))
	c.Wait(5 * time.Minute)
	assert.EqualValues(t, 1, webReplicas(c))
	assert.Contains(t, c.Events("hpa"), "SuccessfulRescale: New size: 1; reason: All metrics below target")
}

func TestPodAutoscalerBehavior(t *testing.T) {
	t.Parallel()
	c := startAutoscaling(t, 2)
	require.NoError(t, c.Kubelet().Pods("app=web").SetUsage("cpu", "500m"))
	autoscale(c, halfCPU+`, behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 60}]},
scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Percent, value: 50, periodSeconds: 10}]}}`)
	c.Settle()
	assert.EqualValues(t, 3, webReplicas(c))
	assert.Equal(t, "True ScaleUpLimit the desired replica count is increasing faster than the maximum scale rate", hpaCondition(c, "ScalingLimited"))
	c.Wait(45 * time.Second)
	assert.EqualValues(t, 3, webReplicas(c))
	c.Wait(15 * time.Second)
	assert.EqualValues(t, 4, webReplicas(c))

	require.NoError(t, c.Kubelet().Pods("app=web").SetUsage("cpu", "1m"))
	c.Wait(15 * time.Second)
	assert.EqualValues(t, 2, webReplicas(c))
	assert.Equal(t, "True ScaleDownLimit the desired replica count is decreasing faster than the maximum scale rate", hpaCondition(c, "ScalingLimited"))
	c.Wait(time.Minute)
	assert.EqualValues(t, 1, webReplicas(c))
}

func TestPodAutoscalerBounds(t *testing.T) {
	t.Parallel()
	const memory = `metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 512Mi}}}]`
	t.Run("above the maximum", func(t *testing.T) {
		c := startAutoscaling(t, 3)
		autoscale(c, "maxReplicas: 2, "+memory)
		c.Wait(15 * time.Second)
		assert.EqualValues(t, 2, webReplicas(c))
		assert.Contains(t, c.Events("hpa"), "SuccessfulRescale: New size: 2; reason: Current number of replicas above Spec.MaxReplicas")
	})
	t.Run("below the minimum", func(t *testing.T) {
		c := startAutoscaling(t, 1)
		autoscale(c, "minReplicas: 2, maxReplicas: 3, "+memory)
		c.Wait(15 * time.Second)
		assert.EqualValues(t, 2, webReplicas(c))
	})
	t.Run("zero", func(t *testing.T) {
		c := startAutoscaling(t, 0)
		autoscale(c, "maxReplicas: 3, "+memory)
		c.Wait(15 * time.Second)
		assert.EqualValues(t, 0, webReplicas(c))
		assert.Equal(t, "False ScalingDisabled scaling is disabled since the replica count of the target is zero", hpaCondition(c, "ScalingActive"))
	})
	t.Run("no target", func(t *testing.T) {
		c := startCluster(t, autoscalingControllers)
		autoscale(c, "maxReplicas: 3, "+memory)
		c.Wait(15 * time.Second)
		assert.Equal(t, `False FailedGetScale the HPA controller was unable to get the target's current scale: deployments.apps "web" not found`, hpaCondition(c, "AbleToScale"))
		assert.Equal(t, []string{`FailedGetScale: deployments.apps "web" not found`}, c.Events("hpa"))
	})
	for release, want := range map[string]string{
		"1.36": "multiple HPAs: [{hpa default} {other default} {third default}]",
		"1.37": "more than one HPA (e.g. [{hpa default} {other default}])",
	} {
		t.Run("several of one target in "+release, func(t *testing.T) {
			c := startAutoscaling(t, 1, fakeapi.WithRelease(release))
			autoscale(c, "maxReplicas: 3, "+memory)
			for _, name := range []string{"other", "third"} {
				c.Create("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler,
metadata: {name: `+name+`}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 5, `+memory+"}}")
			}
			c.Wait(30 * time.Second)
			assert.Equal(t, "False AmbiguousSelector pods by selector app=web are controlled by "+want, hpaCondition(c, "ScalingActive"))
		})
	}
}

// TestPodAutoscalerGeneration: since 1.37, a new HorizontalPodAutoscaler and a changed one are
// reconciled at once, and the status says what it is of.
func TestPodAutoscalerGeneration(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		want    []int64 // replicas after the creation, and after a change of the bounds
		status  any
	}{
		{"1.36", []fakeapi.Option{fakeapi.WithRelease("1.36")}, []int64{1, 2}, nil},
		{"without the gate", []fakeapi.Option{withGate("HPAGeneration", false)}, []int64{2, 2}, nil},
		{"1.37", nil, []int64{2, 3}, int64(2)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startAutoscaling(t, 1, row.options...)
			autoscale(c, "minReplicas: 2, maxReplicas: 5")
			c.Settle()
			assert.Equal(t, row.want[0], webReplicas(c))
			c.Wait(15 * time.Second)
			assert.EqualValues(t, 2, webReplicas(c))
			c.Do(http.MethodPatch, "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/hpa", `{"spec":{"minReplicas":3}}`)
			c.Settle()
			assert.Equal(t, row.want[1], webReplicas(c))
			c.Wait(15 * time.Second)
			assert.EqualValues(t, 3, webReplicas(c))
			assert.Equal(t, row.status, object.Value(c.Get("horizontalpodautoscalers", "default", "hpa"), "status", "observedGeneration"))
		})
	}
}

// TestPodAutoscalerZero scales a Deployment to zero and back, by an external metric.
func TestPodAutoscalerZero(t *testing.T) {
	t.Parallel()
	const queue = `metrics: [{type: External, external: {metric: {name: queue}, target: {type: Value, value: "100"}}}], behavior: {scaleDown: {stabilizationWindowSeconds: 0}}`
	set := func(c cluster, replicas int, value string) {
		require.NoError(t, c.Kubelet().SetMetric("queue", value))
		if replicas >= 0 {
			c.Do(http.MethodPatch, "/apis/apps/v1/namespaces/default/deployments/web", fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
		}
		c.Wait(time.Minute)
	}
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		zero    string // the condition after the target was scaled to zero
		resumes int64  // the replicas that a target has then that a client has scaled to zero
	}{
		{"1.37", nil, "True ScaledToZero the HPA controller scaled the workload to zero", 0},
		{"1.35", []fakeapi.Option{fakeapi.WithRelease("1.35"), withGate("HPAScaleToZero", true)}, "", 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startAutoscaling(t, 2, row.options...)
			require.NoError(t, c.Kubelet().SetMetric("queue", "0"))
			autoscale(c, "minReplicas: 0, maxReplicas: 5, "+queue)
			c.Wait(time.Minute)
			assert.EqualValues(t, 0, webReplicas(c))
			assert.Equal(t, row.zero, hpaCondition(c, "ScaledToZero"))
			set(c, -1, "100")
			assert.EqualValues(t, 1, webReplicas(c))
			if row.zero != "" {
				assert.Equal(t, "False NotScaledToZero the HPA controller did not scale the workload to zero", hpaCondition(c, "ScaledToZero"))
			}
			set(c, 0, "300")
			assert.Equal(t, row.resumes, webReplicas(c))
		})
	}
	t.Run("a minimum again", func(t *testing.T) {
		t.Parallel()
		c := startAutoscaling(t, 2)
		require.NoError(t, c.Kubelet().SetMetric("queue", "0"))
		autoscale(c, "minReplicas: 0, maxReplicas: 5, "+queue)
		c.Wait(time.Minute)
		c.Do(http.MethodPatch, "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/hpa", `{"spec":{"minReplicas":2}}`)
		c.Settle()
		assert.EqualValues(t, 2, webReplicas(c))
		assert.Contains(t, c.Events("hpa"), "SuccessfulRescale: New size: 2; reason: Current number of replicas below Spec.MinReplicas")
	})
}

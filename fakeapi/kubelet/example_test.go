package kubelet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A Pod whose image does not exist, and that starts when it does.
func Example() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)),
		fakeapi.WithControllers("scheduler", "kubelet"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	if err := srv.Kubelet().Pods("app=web").FailImagePull(); err != nil {
		panic(err)
	}
	srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}},
  spec: {schedulerName: default-scheduler, restartPolicy: Always, containers: [{name: c, image: web:v2}]}, status: {phase: Pending}}`)
	show := func() {
		o, err := srv.Get("pods", "default", "web")
		if err != nil {
			panic(err)
		}
		var pod struct {
			Status struct {
				Phase             string
				ContainerStatuses []struct {
					State map[string]struct{ Reason string }
				}
			}
		}
		if err := o.Into(&pod); err != nil {
			panic(err)
		}
		state, _ := json.Marshal(pod.Status.ContainerStatuses[0].State)
		fmt.Println(srv.Clock().Now().Format("15:04:05"), pod.Status.Phase, string(state))
	}
	srv.Settle(context.Background())
	show()
	srv.Kubelet().Pods("app=web").Run()
	srv.Settle(context.Background(), fakeapi.SettleOptions{Ahead: 10 * time.Second})
	show()
	// Output:
	// 09:00:00 Pending {"waiting":{"Reason":"ImagePullBackOff"}}
	// 09:00:10 Running {"running":{"Reason":""}}
}

// A Deployment whose Pods use 80% of the CPU that they request, where half of it is the
// target.
func Example_metrics() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)),
		fakeapi.WithControllers("*"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Store(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default},
  spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
    spec: {containers: [{name: c, image: web, resources: {requests: {cpu: 500m}}}]}}}}`)
	srv.Store(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: default},
  spec: {maxReplicas: 10, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
    metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}`)
	if err := srv.Kubelet().Pods("app=web").SetUsage("cpu", "400m"); err != nil {
		panic(err)
	}
	srv.Settle(context.Background(), fakeapi.SettleOptions{Ahead: 15 * time.Second})
	web, err := srv.Get("deployments", "default", "web")
	if err != nil {
		panic(err)
	}
	fmt.Println(web["spec"].(map[string]any)["replicas"])
	// Output: 4
}

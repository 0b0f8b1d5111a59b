package fakeapi_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A Deployment whose Pods use 80% of the CPU that they request, where half of it is the
// target.
func ExamplePodSelection_SetUsage() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)),
		fakeapi.WithControllers("*"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Put(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default},
  spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
    spec: {containers: [{name: c, image: web, resources: {requests: {cpu: 500m}}}]}}}}`)
	srv.Put(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: default},
  spec: {maxReplicas: 10, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
    metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}`)
	if err := srv.Pods("app=web").SetUsage("cpu", "400m"); err != nil {
		panic(err)
	}
	srv.Settle(context.Background(), fakeapi.Ahead(15*time.Second))
	web, err := srv.Get("deployments", "default", "web")
	if err != nil {
		panic(err)
	}
	fmt.Println(web["spec"].(map[string]any)["replicas"])
	// Output: 4
}

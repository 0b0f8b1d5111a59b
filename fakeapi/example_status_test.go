package fakeapi_test

import (
	"fmt"

	"github.com/kubefake/kubefake/fakeapi"
)

// A Deployment that is rolled out although no controller runs.
func ExampleServer_SetStatus_ready() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Store(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default},
  spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
    spec: {containers: [{name: c, image: web}]}}}}`)
	web, err := srv.SetStatus("deployments.apps", "default", "web", fakeapi.Ready)
	if err != nil {
		panic(err)
	}
	fmt.Println(web["status"].(map[string]any)["availableReplicas"])
	// Output: 2
}

// A Service whose load balancer has an address.
func ExampleServer_SetStatus() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Store(`{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default},
  spec: {type: LoadBalancer, clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9], ports: [{port: 80, protocol: TCP, targetPort: 80}]}}`)
	web, err := srv.SetStatus("services.", "default", "web", `{loadBalancer: {ingress: [{hostname: lb.example.com}]}}`)
	if err != nil {
		panic(err)
	}
	fmt.Println(web["status"])
	// Output: map[loadBalancer:map[ingress:[map[hostname:lb.example.com]]]]
}

// A ConfigMap whose finalizer no controller removes.
func ExampleServer_FinishDeletion() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Store(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, finalizers: [example.com/backup],
  deletionTimestamp: "2030-01-01T09:00:00Z", deletionGracePeriodSeconds: 0}}`)
	if err := srv.FinishDeletion("configmaps", "default", "a"); err != nil {
		panic(err)
	}
	_, err = srv.Get("configmaps", "default", "a")
	fmt.Println(err)
	// Output: not found: configmaps a
}

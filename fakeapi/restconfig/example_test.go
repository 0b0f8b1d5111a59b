package restconfig_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

// In a test, start the server with fakeapi.Start(t).
func ExampleFor() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(restconfig.For(srv))
	namespace, err := client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
	fmt.Println(namespace.Name, err)
	// Output: default <nil>
}

func ExampleForUser() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithRBAC())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	alice := kubernetes.NewForConfigOrDie(restconfig.ForUser(srv, fakeapi.User{Name: "alice"}))
	_, err = alice.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	fmt.Println(err)
	// Output: pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"
}

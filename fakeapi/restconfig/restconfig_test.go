package restconfig_test

import (
	"context"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

// servers are the ways to start a server.
var servers = map[string][]fakeapi.Option{
	"HTTP":               nil,
	"TLS":                {fakeapi.WithTLS()},
	"in memory":          {fakeapi.WithInMemory()},
	"TLS with users":     {fakeapi.WithTLS(), fakeapi.WithToken("t", fakeapi.User{Name: "bob"})},
	"RBAC":               {fakeapi.WithRBAC()},
	"in memory, users":   {fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithToken("t", fakeapi.User{Name: "bob"})},
	"HTTP, RBAC, users":  {fakeapi.WithRBAC(), fakeapi.WithToken("t", fakeapi.User{Name: "bob"})},
	"TLS with RBAC only": {fakeapi.WithRBAC(), fakeapi.WithTLS()},
}

// The administrator may do everything, and clients that share a configuration work.
func TestFor(t *testing.T) {
	for name, options := range servers {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, options...)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			client := kubernetes.NewForConfigOrDie(restconfig.For(srv))
			if got := whoAmI(ctx, t, client); got.Username != "admin" {
				t.Error(got)
			}
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := dynamic.NewForConfigOrDie(restconfig.For(srv)).Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default").Get(ctx, "a", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			factory := informers.NewSharedInformerFactory(client, 0)
			lister := factory.Core().V1().ConfigMaps().Lister()
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
			if _, err := lister.ConfigMaps("default").Get("a"); err != nil {
				t.Error(err)
			}
			cancel()
			factory.Shutdown()
		})
	}
}

// A user may do what the user's roles permit.
func TestForUser(t *testing.T) {
	alice := fakeapi.User{Name: "alice", UID: "7", Groups: []string{"devs"}, Extra: map[string][]string{"team": {"shop"}}}
	for name, options := range servers {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			srv := fakeapi.Start(t, append(options, fakeapi.WithRBAC())...)
			for _, srv := range []*fakeapi.Server{srv, srv.Fork(t)} {
				client := kubernetes.NewForConfigOrDie(restconfig.ForUser(srv, alice))
				got := whoAmI(ctx, t, client)
				if got.Username != "alice" || got.UID != "7" || len(got.Groups) != 2 || got.Groups[0] != "devs" || len(got.Extra["team"]) != 1 {
					t.Error(got)
				}
				if _, err := client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
					t.Error("alice has no role:", err)
				}
			}
		})
	}
}

// KubeconfigFor has the credentials of ForUser, as client-go reads the file.
func TestKubeconfigFor(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS())
	file, err := srv.Credentials(fakeapi.User{Name: "alice"}).Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := whoAmI(context.Background(), t, kubernetes.NewForConfigOrDie(config)); got.Username != "alice" {
		t.Error(got)
	}
}

// whoAmI returns the user that the server takes a client for.
func whoAmI(ctx context.Context, t *testing.T, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo
}

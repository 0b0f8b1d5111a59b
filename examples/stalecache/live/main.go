// Command live runs the controller of stalecache against a server, until it is
// interrupted, so that the page of the server shows the bug. With -fixed it runs the fixed
// controller.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/stalecache"
	"github.com/kubefake/kubefake/fakeapi"
)

func main() {
	fixed := flag.Bool("fixed", false, "run the fixed controller")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *fixed); err != nil {
		log.Fatal(err)
	}
}

// run runs the controller and its user until the context ends. The watch of Pods lags by
// two seconds.
func run(ctx context.Context, fixed bool) error {
	srv, err := fakeapi.New()
	if err != nil {
		return err
	}
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(rig.Config(srv, "replicasets"))
	factory := informers.NewSharedInformerFactory(client, 0)
	sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
	c := &stalecache.Controller{Client: client, ReplicaSets: sets.Lister(), Pods: pods.Lister(), Expect: fixed}
	ended := make(chan error, 1)
	go func() { ended <- rig.RunUntil(ctx, factory, c.Reconcile, sets.Informer(), pods.Informer()) }()
	cache.WaitForCacheSync(ctx.Done(), sets.Informer().HasSynced, pods.Informer().HasSynced)
	if err := srv.SetLag("pods", fakeapi.Lag{By: 2 * time.Second}); err != nil {
		return err
	}
	if err := stalecache.Use(ctx, kubernetes.NewForConfigOrDie(rig.Config(srv, "user"))); err != nil {
		return err
	}
	fmt.Printf("%s/debug/fakeapi/ shows what the controller does, until you press Ctrl-C.\n", srv.URL)
	return <-ended
}

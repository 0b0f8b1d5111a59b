package operator_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/operator"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// start runs the operator, whose webhooks nobody calls.
func start(ctx context.Context, srv *fakeapi.Server) error {
	unique := true
	mgr, err := ctrl.NewManager(restconfig.For(srv), ctrl.Options{
		Scheme:        operator.Scheme(),
		WebhookServer: webhook.NewServer(webhook.Options{Port: -1, WebhookMux: http.NewServeMux()}),
		Metrics:       metricsserver.Options{BindAddress: "0"},
		Controller:    config.Controller{SkipNameValidation: &unique},
	})
	if err != nil {
		return err
	}
	r := &operator.Reconciler{Purge: func(string) error { return nil }}
	if err := r.SetUp(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// TestExplore finds nothing: crashes, conflicts and old views do not confuse the operator.
// A user creates a Website, and changes it twice.
func TestExplore(t *testing.T) {
	put := func(image string, replicas int) func(srv *fakeapi.Server) error {
		return func(srv *fakeapi.Server) error {
			return apply(srv, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Website","metadata":{"name":"blog"},"spec":{"image":%q,"replicas":%d}}`, image, replicas))
		}
	}
	rig.FindsNothing(t, explore.System{
		Options:  []fakeapi.Option{fakeapi.WithCRDs(os.DirFS("config"), "crd/*.yaml")},
		Start:    start,
		Workload: explore.Steps(time.Minute, put("blog:1", 1), put("blog:2", 3), put("blog:2", 1)),
	})
}

// apply applies a Website as a user.
func apply(srv *fakeapi.Server, body string) error {
	url := srv.URL + "/apis/shop.example.com/v1/namespaces/default/websites/blog?fieldManager=user"
	req, err := http.NewRequest(http.MethodPatch, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "user")
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := srv.Client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("PATCH %s: %s", url, resp.Status)
	}
	return nil
}

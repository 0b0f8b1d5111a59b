package paging_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/paging"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is a program that publishes how many Pods there are. No user does anything.
func system(startOver bool) explore.System {
	var pods []any
	for i := range 25 {
		pods = append(pods, pod(fmt.Sprintf("pod-%02d", i)))
	}
	return explore.System{
		Options: []fakeapi.Option{fakeapi.WithObjects(pods...)},
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			client := kubernetes.NewForConfigOrDie(rig.Config(srv, "inventory"))
			inventory := &paging.Inventory{Client: client, Namespace: "default", PageSize: 10, StartOver: startOver}
			if err := inventory.Take(ctx); err != nil {
				return err
			}
			return publish(ctx, client, inventory.Names.Len())
		},
	}
}

// publish writes the number of Pods to a ConfigMap.
func publish(ctx context.Context, client kubernetes.Interface, n int) error {
	maps := client.CoreV1().ConfigMaps("default")
	result := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inventory"}, Data: map[string]string{"pods": strconv.Itoa(n)}}
	_, err := maps.Create(ctx, result, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = maps.Update(ctx, result, metav1.UpdateOptions{})
	}
	return err
}

func TestExploreFixed(t *testing.T) { rig.FindsNothing(t, system(true)) }

func TestExploreBuggy(t *testing.T) { rig.Finds(t, system(false), explore.EndState) }

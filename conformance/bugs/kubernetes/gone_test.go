package kubernetes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// An endpointList writes the names of the Pods of a namespace to a ConfigMap, as programs do
// that fill the configuration of a proxy. It uses a ListerWatcher without an informer.
type endpointList struct {
	client kubernetes.Interface
	pods   cache.ListerWatcher
	names  map[string]bool
	// relist makes it list again after 410 Gone. Otherwise it watches from the present
	// state: it never learns of what was deleted meanwhile.
	relist bool
}

// run runs the program until ctx ends.
func (e *endpointList) run(ctx context.Context) error {
	version := ""
	for ctx.Err() == nil {
		var err error
		if version == "" && (e.relist || e.names == nil) {
			version, err = e.list(ctx)
		}
		if err == nil {
			version, err = e.watch(ctx, version)
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			version = ""
			continue
		}
		if err != nil {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// list replaces the names by those of the present Pods, and returns their version.
func (e *endpointList) list(ctx context.Context) (version string, err error) {
	list, err := e.pods.List(metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	names := map[string]bool{}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		names[o.(*corev1.Pod).Name] = true
		return nil
	})
	if err != nil {
		return "", err
	}
	e.names = names
	if err := e.write(ctx); err != nil {
		return "", err
	}
	return list.(*corev1.PodList).ResourceVersion, nil
}

// watch follows the events after a version. It returns the version of the last one.
func (e *endpointList) watch(ctx context.Context, version string) (string, error) {
	w, err := e.pods.Watch(metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return version, err
	}
	defer w.Stop()
	for {
		select {
		case event, open := <-w.ResultChan():
			if !open {
				return version, errors.New("the watch has ended")
			}
			pod, isPod := event.Object.(*corev1.Pod)
			switch {
			case event.Type == watch.Error:
				return version, apierrors.FromObject(event.Object)
			case !isPod:
				continue
			case event.Type == watch.Deleted:
				delete(e.names, pod.Name)
			default:
				e.names[pod.Name] = true
			}
			if err := e.write(ctx); err != nil {
				return "", err
			}
			version = pod.ResourceVersion
		case <-ctx.Done():
			return version, ctx.Err()
		}
	}
}

// write writes the names. If it fails, they are listed again.
func (e *endpointList) write(ctx context.Context) error {
	var names []string
	for name := range e.names {
		names = append(names, name)
	}
	slices.Sort(names)
	patch := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proxy"},"data":{"endpoints":"` + strings.Join(names, " ") + `"}}`
	force := true
	_, err := e.client.CoreV1().ConfigMaps("default").Patch(ctx, "proxy", types.ApplyPatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "proxy", Force: &force})
	if err != nil {
		e.names = nil
	}
	return err
}

// endpointListSystem returns the program with a workload that creates and deletes Pods.
func endpointListSystem(t *testing.T, relist bool) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			config := restconfig.For(srv)
			config.UserAgent = "proxy"
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			pods := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "default", fields.Everything())
			return (&endpointList{client: client, pods: pods, relist: relist}).run(ctx)
		},
		Workload: explore.Scenario("testdata/pods.yaml"),
		Dir:      t.TempDir(),
	}
}

func TestGone(t *testing.T) { explore.Run(t, endpointListSystem(t, false)) }

func TestGoneRelist(t *testing.T) { explore.Run(t, endpointListSystem(t, true)) }

package clientsuite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

const (
	// patience is the timeout of a wait.
	patience = 30 * time.Second
	// pollInterval is the time between two checks of a condition.
	pollInterval = 10 * time.Millisecond
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// A flavour is a way to keep a local copy of the ConfigMaps of a namespace.
type flavour struct {
	name string
	// needs is the media type that the client requests.
	needs string
	// config derives the configuration of the informer and of the writer.
	config func(*rest.Config) *rest.Config
	// informer creates an informer and does not start it.
	informer func(cfg *rest.Config, namespace string) (cache.SharedIndexInformer, error)
	// list lists the objects with the same kind of client.
	list func(ctx context.Context, cfg *rest.Config, namespace string) (runtime.Object, error)
}

var flavours = []flavour{
	{
		name:     "typed",
		needs:    runtime.ContentTypeJSON,
		config:   JSON,
		informer: typedInformer,
		list:     typedList,
	},
	{
		name:     "typed in protobuf",
		needs:    runtime.ContentTypeProtobuf,
		config:   rest.CopyConfig,
		informer: typedInformer,
		list:     typedList,
	},
	{
		name:   "dynamic",
		needs:  runtime.ContentTypeJSON,
		config: JSON,
		informer: func(cfg *rest.Config, namespace string) (cache.SharedIndexInformer, error) {
			c, err := dynamic.NewForConfig(cfg)
			if err != nil {
				return nil, err
			}
			f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c, 0, namespace, nil)
			return f.ForResource(configMaps).Informer(), nil
		},
		list: func(ctx context.Context, cfg *rest.Config, namespace string) (runtime.Object, error) {
			c, err := dynamic.NewForConfig(cfg)
			if err != nil {
				return nil, err
			}
			return c.Resource(configMaps).Namespace(namespace).List(ctx, metav1.ListOptions{})
		},
	},
	{
		name:   "metadata",
		needs:  runtime.ContentTypeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		config: JSON,
		informer: func(cfg *rest.Config, namespace string) (cache.SharedIndexInformer, error) {
			c, err := metadata.NewForConfig(cfg)
			if err != nil {
				return nil, err
			}
			f := metadatainformer.NewFilteredSharedInformerFactory(c, 0, namespace, nil)
			return f.ForResource(configMaps).Informer(), nil
		},
		list: func(ctx context.Context, cfg *rest.Config, namespace string) (runtime.Object, error) {
			c, err := metadata.NewForConfig(cfg)
			if err != nil {
				return nil, err
			}
			return c.Resource(configMaps).Namespace(namespace).List(ctx, metav1.ListOptions{})
		},
	},
}

func typedInformer(cfg *rest.Config, namespace string) (cache.SharedIndexInformer, error) {
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	f := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(namespace))
	return f.Core().V1().ConfigMaps().Informer(), nil
}

func typedList(ctx context.Context, cfg *rest.Config, namespace string) (runtime.Object, error) {
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return c.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
}

// Informers runs a reflector and the shared informers of each kind of client
// while objects change at random, first with list and watch, then with streaming
// lists. If watches are only cut, the informer must report every change once and
// in order. If versions expire too, it may miss changes, but its events must be
// consistent and its last state must be the server's. It skips the media types for
// which the server returns 501.
func Informers(t *testing.T) {
	for _, mode := range []struct {
		name      string
		streaming bool
	}{
		{"list and watch", false},
		{"streaming list", true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, mode.streaming)
			for _, f := range flavours {
				t.Run(f.name+" with cut watches", func(t *testing.T) {
					t.Parallel()
					testInformer(t, f, mode.streaming, &trouble{cuts: 8})
				})
				t.Run(f.name+" with cut watches and expired versions", func(t *testing.T) {
					t.Parallel()
					testInformer(t, f, mode.streaming, &trouble{cuts: 4, expiries: 2})
				})
			}
			t.Run("reflector", func(t *testing.T) {
				t.Parallel()
				testReflector(t)
			})
		})
	}
}

// seed returns a random seed and logs it, so that the test can be repeated.
func seed(t *testing.T) uint64 {
	s := rand.Uint64()
	t.Logf("seed %d", s)
	return s
}

// testInformer runs an informer whose watches fail as tr says. All failures of tr
// must happen. If versions expire, the server's history is compacted too.
func testInformer(t *testing.T, f flavour, streaming bool, tr *trouble) {
	server := target.Start(t)
	calm := f.config(Config(server))
	skipWithout(t, server, f.needs)
	namespace := Namespace(t, calm)
	s := seed(t)
	tr.random = rand.New(rand.NewPCG(s, 1))
	expiries := tr.expiries

	troubled := rest.CopyConfig(calm)
	troubled.Wrap(func(next http.RoundTripper) http.RoundTripper {
		tr.next = next
		return tr
	})
	tr.compact = server.Compact
	informer, err := f.informer(troubled, namespace)
	require.NoError(t, err)
	events := newHistory(expiries > 0)
	_, err = informer.AddEventHandler(events)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(calm)
	require.NoError(t, err)
	writer := newChurn(client.CoreV1().ConfigMaps(namespace), s)
	require.NoError(t, writer.write(t.Context(), 30))
	before := maps.Clone(writer.log)
	initial := writer.versions()

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.Run(ctx.Done()) })
	defer running.Wait()
	defer cancel()
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))

	for range 3 {
		require.NoError(t, writer.write(ctx, 50))
		if expiries > 0 {
			require.NoError(t, server.Compact())
		}
		waitForState(t, informer.GetStore(), writer)
	}
	// Handlers are called after the store has changed.
	err = wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(context.Context) (bool, error) {
		return events.caughtUp(writer), nil
	})
	require.NoError(t, err, "the handler did not receive the last state")

	list, err := f.list(ctx, calm, namespace)
	require.NoError(t, err)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	assert.Equal(t, contents(t, items), contents(t, informer.GetStore().List()), "the store differs from the server's list")

	changes, errs := events.result()
	assert.Empty(t, errs)
	if expiries == 0 {
		assert.Equal(t, expectedEvents(before, initial, writer.log), changes, "the handler received every change once")
	}

	cut, expired, streamed := tr.counts()
	assert.Positive(t, cut, "no watch was cut")
	assert.Equal(t, expiries, expired, "number of expired versions")
	assert.Equal(t, streaming, streamed > 0, "use of streaming lists")
}

// expectedEvents returns the changes in log that an informer must report whose
// first list was initial, after the changes in before.
func expectedEvents(before map[string][]change, initial []string, log map[string][]change) map[string][]change {
	out := map[string][]change{}
	for name, changes := range log {
		seen := before[name]
		if n := len(seen); n > 0 && slices.Contains(initial, name+"@"+seen[n-1].version) {
			out[name] = append(out[name], change{added, seen[n-1].version})
		}
		if rest := changes[len(seen):]; len(rest) > 0 {
			out[name] = append(out[name], rest...)
		}
	}
	return out
}

// testReflector runs a reflector without an informer.
func testReflector(t *testing.T) {
	server := target.Start(t)
	cfg := JSON(Config(server))
	namespace := Namespace(t, cfg)
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	writer := newChurn(client.CoreV1().ConfigMaps(namespace), seed(t))
	require.NoError(t, writer.write(t.Context(), 30))

	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
	reflector := cache.NewReflectorWithOptions(lw, &corev1.ConfigMap{}, store, cache.ReflectorOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reflector.Run(ctx.Done()) })
	defer running.Wait()
	defer cancel()

	for range 3 {
		require.NoError(t, writer.write(ctx, 50))
		waitForState(t, store, writer)
	}
	assert.NotEmpty(t, reflector.LastSyncResourceVersion())
}

// waitForState waits until store has the objects that the writer stored.
func waitForState(t *testing.T, store cache.Store, writer *churn) {
	t.Helper()
	want := writer.versions()
	var got []string
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, patience, true, func(context.Context) (bool, error) {
		got = nil
		for _, item := range store.List() {
			o, err := meta.Accessor(item)
			if err != nil {
				return false, err
			}
			got = append(got, o.GetName()+"@"+o.GetResourceVersion())
		}
		slices.Sort(got)
		return slices.Equal(want, got), nil
	})
	if err != nil {
		t.Fatalf("the store did not reach the written state: %v\nwritten %v\nstored  %v", err, want, got)
	}
}

// contents returns objects by name as JSON values, without kind and apiVersion,
// which the items of typed lists do not have.
func contents[T any](t *testing.T, items []T) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, item := range items {
		// Marshal copies: the store's objects must not be changed.
		b, err := json.Marshal(item)
		require.NoError(t, err)
		var o map[string]any
		require.NoError(t, json.Unmarshal(b, &o))
		delete(o, "kind")
		delete(o, "apiVersion")
		name := o["metadata"].(map[string]any)["name"]
		out[fmt.Sprint(name)] = o
	}
	return out
}

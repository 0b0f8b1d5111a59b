package clientsuite

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

const (
	pageSize = 10
	objects  = 3*pageSize + 5
)

// Pages reads lists with client-go's pager while the objects change. All pages of
// a list are of one snapshot. If the snapshot is compacted between two pages, the
// pager gets an error, or a full list if FullListIfExpired is set.
func Pages(t *testing.T) {
	t.Run("snapshot", func(t *testing.T) { Encodings(t, testSnapshotPages) })
	t.Run("expired", func(t *testing.T) { Encodings(t, testExpiredPages) })
	t.Run("each item", func(t *testing.T) { Encodings(t, testEachItem) })
}

// testSnapshotPages deletes, changes and creates objects after the first page.
func testSnapshotPages(t *testing.T, _ *target.Server, cfg *rest.Config) {
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	maps := client.CoreV1().ConfigMaps(Namespace(t, cfg))
	newMap := func(name string) {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	var want []string
	for i := range objects {
		name := fmt.Sprintf("cm-%03d", i)
		newMap(name)
		want = append(want, name)
	}
	var versions, remaining []string
	p := &pager.ListPager{
		PageSize: pageSize,
		PageFn: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := maps.List(ctx, opts)
			if err != nil {
				return nil, err
			}
			if len(versions) == 0 {
				require.NoError(t, maps.Delete(ctx, want[objects-1], metav1.DeleteOptions{}))
				require.NoError(t, maps.Delete(ctx, want[0], metav1.DeleteOptions{}))
				newMap("cm-000a")
				newMap("cm-999")
			}
			versions = append(versions, list.ResourceVersion)
			if list.RemainingItemCount != nil {
				remaining = append(remaining, fmt.Sprint(*list.RemainingItemCount))
			}
			return list, nil
		},
	}
	list, paginated, err := p.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.True(t, paginated)
	assert.Equal(t, want, names(t, list))
	require.Len(t, versions, 4)
	for _, v := range versions {
		assert.Equal(t, versions[0], v, "resourceVersion of the page")
	}
	assert.Equal(t, []string{"25", "15", "5"}, remaining)
}

// testExpiredPages compacts after the first page. It uses Events because a real
// server does not cache them, so that compaction has an effect at once.
func testExpiredPages(t *testing.T, server *target.Server, cfg *rest.Config) {
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	namespace := Namespace(t, cfg)
	events := client.CoreV1().Events(namespace)
	newEvent := func(name string) {
		_, err := events.Create(t.Context(), &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: namespace, Name: "cm"},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	var want []string
	for i := range objects {
		name := fmt.Sprintf("ev-%03d", i)
		newEvent(name)
		want = append(want, name)
	}
	pages := 0
	page := func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		pages++
		list, err := events.List(ctx, opts)
		if err == nil && pages == 1 {
			name := fmt.Sprintf("ev-%03d", len(want))
			newEvent(name)
			want = append(want, name)
			err = server.Compact()
		}
		return list, err
	}

	p := &pager.ListPager{PageSize: pageSize, PageFn: page}
	_, _, err = p.List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	assert.Equal(t, 2, pages)

	pages = 0
	p.FullListIfExpired = true
	list, _, err := p.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, names(t, list), "the full list lacks the new event")
	assert.Equal(t, 3, pages)
}

// testEachItem reads each item while the pager reads pages ahead.
func testEachItem(t *testing.T, _ *target.Server, cfg *rest.Config) {
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	maps := client.CoreV1().ConfigMaps(Namespace(t, cfg))
	var want, got []string
	for i := range objects {
		name := fmt.Sprintf("cm-%03d", i)
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		want = append(want, name)
	}
	p := &pager.ListPager{
		PageSize:       pageSize,
		PageBufferSize: 2,
		PageFn: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, opts)
		},
	}
	err = p.EachListItem(t.Context(), metav1.ListOptions{}, func(o runtime.Object) error {
		got = append(got, o.(*corev1.ConfigMap).Name)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// names returns the names of the objects in list.
func names(t *testing.T, list runtime.Object) []string {
	t.Helper()
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	var out []string
	for _, item := range items {
		o, err := meta.Accessor(item)
		require.NoError(t, err)
		out = append(out, o.GetName())
	}
	return out
}

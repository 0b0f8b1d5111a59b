// Package expiredwatch has a client that does not notice that its watch cannot be
// resumed, and its fixed version.
//
// The client mirrors ConfigMaps. It lists them once and then watches them; it opens the
// watch again when it ends. A watch from a compacted version is answered with an ERROR
// event, 410 Expired, each time. Only a new list helps.
package expiredwatch

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// pause is the delay before the mirror opens a watch again.
const pause = time.Second

// A Mirror has a copy of the ConfigMaps of a namespace.
type Mirror struct {
	Client    kubernetes.Interface
	Namespace string

	// Relist lists again when the version has expired.
	Relist bool

	mu   sync.Mutex // guards data
	data map[string]map[string]string
}

// Data returns the data of a ConfigMap, nil if there is none.
func (m *Mirror) Data(name string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[name]
}

// Run mirrors until the context ends.
func (m *Mirror) Run(ctx context.Context) error {
	version, err := m.list(ctx)
	for err == nil {
		version, err = m.watch(ctx, version)
		if apierrors.IsResourceExpired(err) && m.Relist {
			version, err = m.list(ctx)
			continue
		}
		if apierrors.IsResourceExpired(err) {
			err = nil // the bug: the watch is opened again with the same version
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// list copies the ConfigMaps and returns the version of the list.
func (m *Mirror) list(ctx context.Context) (version string, err error) {
	list, err := m.Client.CoreV1().ConfigMaps(m.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = map[string]map[string]string{}
	for _, o := range list.Items {
		m.data[o.Name] = o.Data
	}
	return list.ResourceVersion, nil
}

// watch copies the changes after a version until the watch ends. It returns the version of
// the last change.
func (m *Mirror) watch(ctx context.Context, version string) (string, error) {
	w, err := m.Client.CoreV1().ConfigMaps(m.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return version, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Error {
			return version, apierrors.FromObject(event.Object)
		}
		o, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			return version, errors.New("the event has no ConfigMap")
		}
		m.change(event.Type, o)
		version = o.ResourceVersion
	}
	return version, nil
}

func (m *Mirror) change(t watch.EventType, o *corev1.ConfigMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t == watch.Deleted {
		delete(m.data, o.Name)
	} else {
		m.data[o.Name] = o.Data
	}
}

// Package expiredwatch is a client whose watch may end for good without its
// noticing, and one that notices.
//
// The client mirrors ConfigMaps: it lists them once and follows them with a
// watch, which it opens again where the last one has ended. A server forgets old
// versions. A watch from one that is forgotten is answered with an ERROR event,
// 410 Expired, however often it is asked for: only a new list helps.
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

// pause is how long the mirror waits before it opens a watch again.
const pause = time.Second

// A Mirror holds a copy of the ConfigMaps of a namespace.
type Mirror struct {
	Client    kubernetes.Interface
	Namespace string

	// Relist makes the mirror list again once its version has expired.
	Relist bool

	mu   sync.Mutex // guards data
	data map[string]map[string]string
}

// Data is what the mirror holds of a ConfigMap, nil if there is none.
func (m *Mirror) Data(name string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[name]
}

// Run mirrors until the context is done.
func (m *Mirror) Run(ctx context.Context) error {
	version, err := m.list(ctx)
	for err == nil {
		version, err = m.follow(ctx, version)
		if apierrors.IsResourceExpired(err) && m.Relist {
			version, err = m.list(ctx)
			continue
		}
		if apierrors.IsResourceExpired(err) {
			err = nil // the watch has ended; open it again
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// list copies what there is and returns its version.
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

// follow copies what changes after version until the watch ends, and returns
// how far it has come.
func (m *Mirror) follow(ctx context.Context, version string) (string, error) {
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

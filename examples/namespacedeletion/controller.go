// Package namespacedeletion has an operator whose finalizer makes the deletion of a
// namespace hang, and its fixed version.
//
// The operator makes a database, outside of the cluster, for each ConfigMap that asks for
// one. Its finalizer on the ConfigMap drops the database, with the password in a Secret
// beside it. The deletion of a namespace deletes all that is in it. The Secret has no
// finalizer, so it is gone before the operator reads it. The operator fails again and again,
// and the namespace stays Terminating.
//
// The fixed operator drops a database also if its Secret is gone.
package namespacedeletion

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Finalizer is the finalizer of ConfigMaps with a database.
const Finalizer = "example.com/database"

// An Operator makes databases for ConfigMaps with data.database.
type Operator struct {
	Client     kubernetes.Interface
	ConfigMaps corelisters.ConfigMapLister

	// Databases has the passwords of the databases that exist, by name.
	Databases map[string]string

	// SurviveLostSecret drops a database also if its Secret is gone.
	SurviveLostSecret bool
}

// Reconcile makes or drops a database.
func (o *Operator) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	config, err := o.ConfigMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) || err == nil && config.Data["database"] == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if config.DeletionTimestamp != nil {
		return 0, o.drop(ctx, config.DeepCopy())
	}
	if slices.Contains(config.Finalizers, Finalizer) {
		return 0, nil
	}
	config = config.DeepCopy()
	config.Finalizers = append(config.Finalizers, Finalizer)
	if _, err := o.Client.CoreV1().ConfigMaps(namespace).Update(ctx, config, metav1.UpdateOptions{}); err != nil {
		return 0, err
	}
	o.Databases[config.Data["database"]] = "secret"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"password": "secret"}}
	_, err = o.Client.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{})
	return 0, err
}

// drop drops the database of a ConfigMap that is being deleted, and removes the finalizer.
func (o *Operator) drop(ctx context.Context, config *corev1.ConfigMap) error {
	_, err := o.Client.CoreV1().Secrets(config.Namespace).Get(ctx, config.Name, metav1.GetOptions{})
	if err != nil && !(o.SurviveLostSecret && apierrors.IsNotFound(err)) {
		return err
	}
	delete(o.Databases, config.Data["database"])
	config.Finalizers = slices.DeleteFunc(config.Finalizers, func(f string) bool { return f == Finalizer })
	_, err = o.Client.CoreV1().ConfigMaps(config.Namespace).Update(ctx, config, metav1.UpdateOptions{})
	return err
}

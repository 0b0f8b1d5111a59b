// Package imagepull has an operator that waits for ever for a Deployment that never gets
// ready, and its fixed version.
//
// The operator installs an application, which a ConfigMap describes, as a Deployment, and
// reports in the ConfigMap when it is ready. If the image cannot be pulled, no Pod becomes
// ready. The operator then reports Installing for ever.
//
// The fixed operator reads the condition Progressing of the Deployment too. It is False
// when the progress deadline of the Deployment has passed.
package imagepull

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The states of an application, in data.state of its ConfigMap.
const (
	Installing = "Installing"
	Ready      = "Ready"
	Failed     = "Failed"
)

// An Installer installs applications: ConfigMaps with data.image.
type Installer struct {
	Client      kubernetes.Interface
	ConfigMaps  corelisters.ConfigMapLister
	Deployments appslisters.DeploymentLister

	// ReportFailures reads the condition Progressing of Deployments.
	ReportFailures bool
}

// Reconcile installs an application and reports its state.
func (i *Installer) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	app, err := i.ConfigMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) || err == nil && app.Data["image"] == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	d, err := i.Deployments.Deployments(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		_, err = i.Client.AppsV1().Deployments(namespace).Create(ctx, deploymentOf(app), metav1.CreateOptions{})
		return 0, err // its arrival in the cache calls Reconcile again
	}
	if err != nil {
		return 0, err
	}
	state := i.state(d)
	if app.Data["state"] == state {
		return 0, nil
	}
	app = app.DeepCopy()
	app.Data["state"] = state
	_, err = i.Client.CoreV1().ConfigMaps(namespace).Update(ctx, app, metav1.UpdateOptions{})
	return 0, err
}

// state returns the state of the application of a Deployment.
func (i *Installer) state(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue:
			return Ready
		case i.ReportFailures && c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse:
			return Failed
		}
	}
	return Installing
}

func deploymentOf(app *corev1.ConfigMap) *appsv1.Deployment {
	match := map[string]string{"app": app.Name}
	deadline := int32(60)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            app.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(app, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Spec: appsv1.DeploymentSpec{
			Selector:                &metav1.LabelSelector{MatchLabels: match},
			ProgressDeadlineSeconds: &deadline,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: match},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: app.Data["image"]}}},
			},
		},
	}
}

// Package operator has an operator that is built with controller-runtime, and its tests.
//
// The operator runs a Deployment for each Website, a custom resource with two versions.
// It owns the Deployment, writes a status, and purges a cache before a Website is
// deleted. Its webhooks set defaults, validate, and convert.
package operator

import (
	"context"
	"errors"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Finalizer keeps a deleted Website until its cache is purged.
const Finalizer = "shop.example.com/purge"

// A Reconciler reconciles Websites.
type Reconciler struct {
	client.Client
	// Purge removes a Website, by its name, from a cache outside of the cluster.
	Purge func(name string) error
}

// SetUp adds the controller and the webhooks to a manager.
func (r *Reconciler) SetUp(mgr ctrl.Manager) error {
	r.Client = mgr.GetClient()
	err := ctrl.NewControllerManagedBy(mgr).For(&Website{}).Owns(&appsv1.Deployment{}).Complete(r)
	if err != nil {
		return err
	}
	return ctrl.NewWebhookManagedBy(mgr, &Website{}).WithDefaulter(webhooks{}).WithValidator(webhooks{}).Complete()
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	site := &Website{}
	if err := r.Get(ctx, req.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if site.DeletionTimestamp != nil {
		return ctrl.Result{}, r.finalize(ctx, site)
	}
	if controllerutil.AddFinalizer(site, Finalizer) {
		return ctrl.Result{}, r.Update(ctx, site) // its event starts the next reconciliation
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r, deployment, func() error {
		labels := map[string]string{"website": site.Name}
		deployment.Spec.Replicas = site.Spec.Replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) != 1 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "site"}}
		}
		deployment.Spec.Template.Spec.Containers[0].Image = site.Spec.Image
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	status := WebsiteStatus{ObservedGeneration: site.Generation, ReadyReplicas: deployment.Status.ReadyReplicas}
	if status == site.Status {
		return ctrl.Result{}, nil
	}
	site.Status = status
	return ctrl.Result{}, r.Status().Update(ctx, site)
}

// finalize purges the cache of a deleted Website and lets the Website go.
func (r *Reconciler) finalize(ctx context.Context, site *Website) error {
	if !controllerutil.ContainsFinalizer(site, Finalizer) {
		return nil
	}
	if err := r.Purge(site.Name); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(site, Finalizer)
	return r.Update(ctx, site)
}

// webhooks are the admission webhooks of Websites.
type webhooks struct{}

var (
	_ admission.Defaulter[*Website] = webhooks{}
	_ admission.Validator[*Website] = webhooks{}
)

// Default sets replicas.
func (webhooks) Default(_ context.Context, site *Website) error {
	if site.Spec.Replicas == nil {
		one := int32(1)
		site.Spec.Replicas = &one
	}
	return nil
}

// ValidateCreate rejects images that change.
func (webhooks) ValidateCreate(_ context.Context, site *Website) (admission.Warnings, error) {
	if strings.HasSuffix(site.Spec.Image, ":latest") {
		return nil, errors.New("spec.image: the tag latest changes; use a version")
	}
	return nil, nil
}

// ValidateUpdate does what ValidateCreate does.
func (w webhooks) ValidateUpdate(ctx context.Context, _, site *Website) (admission.Warnings, error) {
	return w.ValidateCreate(ctx, site)
}

// ValidateDelete allows every deletion.
func (webhooks) ValidateDelete(context.Context, *Website) (admission.Warnings, error) {
	return nil, nil
}

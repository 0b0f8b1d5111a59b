// Package multicluster has a controller of several clusters that leaves something behind when one
// of them is out of reach, and its fixed version. It is built with multicluster-runtime.
//
// A user of the cluster hub creates a ConfigMap with a label that names a region. The controller
// keeps a copy of it in the cluster of that region, and deletes the copy elsewhere when the region
// changes. An annotation in the hub says where the copy is.
//
// The buggy controller changes the annotation first. If it then cannot delete the old copy, because
// the cluster is out of reach or because it crashes, it does not know of it any more. It looks as if
// it were enough to change the annotation last, and a test with a partition passes then. But if the
// user changes the region back before the controller has done so, a copy remains in the other
// cluster. The fixed controller does not rely on the annotation: it looks after all clusters.
package multicluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

const (
	// RegionLabel names the cluster in which the user wants a ConfigMap.
	RegionLabel = "example.com/region"
	// PlacedAnnotation names the cluster that has the copy.
	PlacedAnnotation = "example.com/placed-in"
)

// Scheme returns the types that the controller uses.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err) // unreachable: the types are known
	}
	return s
}

// A Version is one of the versions of the controller.
type Version int

const (
	// RecordsFirst changes the annotation, and then the copies.
	RecordsFirst Version = iota
	// RecordsLast changes the copies that the annotation names, and then the annotation.
	RecordsLast
	// Everywhere changes the copies in all clusters, and then the annotation.
	Everywhere
)

// A Placer reconciles the ConfigMaps of the hub.
type Placer struct {
	Version Version
	Regions []string // the names of the other clusters
	manager mcmanager.Manager
}

// SetUp adds the controller to a manager, whose local cluster is the hub.
func (p *Placer) SetUp(m mcmanager.Manager, options mccontroller.Options) error {
	p.manager = m
	labelled := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[RegionLabel] != "" })
	return mcbuilder.ControllerManagedBy(m).Named("placer").WithOptions(options).
		For(&corev1.ConfigMap{}, mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false), mcbuilder.WithPredicates(labelled)).
		Complete(p)
}

// Reconcile moves the copy of a ConfigMap to the cluster of its region.
func (p *Placer) Reconcile(ctx context.Context, req mcreconcile.Request) (ctrl.Result, error) {
	hub := p.manager.GetLocalManager().GetClient()
	source := &corev1.ConfigMap{}
	if err := hub.Get(ctx, req.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	from, to := source.Annotations[PlacedAnnotation], source.Labels[RegionLabel]
	if from == to && p.Version != Everywhere {
		return ctrl.Result{}, nil
	}
	leave := []string{from}
	if p.Version == Everywhere {
		leave = p.Regions
	}
	if p.Version == RecordsFirst {
		if err := p.record(ctx, source, to); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := p.put(ctx, source, to); err != nil {
		return ctrl.Result{}, err
	}
	for _, region := range leave {
		if region == to || region == "" {
			continue
		}
		if err := p.remove(ctx, source, region); err != nil {
			return ctrl.Result{}, err
		}
	}
	if p.Version == RecordsFirst || from == to {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, p.record(ctx, source, to)
}

// record writes to the hub where the copy of a ConfigMap is.
func (p *Placer) record(ctx context.Context, source *corev1.ConfigMap, cluster string) error {
	changed := source.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, PlacedAnnotation, cluster)
	return p.manager.GetLocalManager().GetClient().Update(ctx, changed)
}

// put creates the copy in a cluster, unless it exists.
func (p *Placer) put(ctx context.Context, source *corev1.ConfigMap, cluster string) error {
	c, err := p.manager.GetCluster(ctx, cluster)
	if err != nil {
		return err
	}
	desired := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}, Data: source.Data}
	return client.IgnoreAlreadyExists(c.GetClient().Create(ctx, desired))
}

// remove deletes the copy in a cluster, if there is one.
func (p *Placer) remove(ctx context.Context, source *corev1.ConfigMap, cluster string) error {
	c, err := p.manager.GetCluster(ctx, cluster)
	if err != nil {
		return err
	}
	gone := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name}}
	return client.IgnoreNotFound(c.GetClient().Delete(ctx, gone))
}

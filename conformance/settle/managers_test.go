package settle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A kind is a kind of object that a controller reconciles: it adds a condition to the status.
type kind struct {
	resource string
	new      func(name string) client.Object
}

var kinds = []kind{
	{"deployments.apps", func(name string) client.Object {
		return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: template()}}
	}},
	{"services", func(name string) client.Object {
		return &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}},
	{"pods", func(name string) client.Object {
		return &corev1.Pod{ObjectMeta: meta(name), Spec: template().Spec}
	}},
	{"statefulsets.apps", func(name string) client.Object {
		return &appsv1.StatefulSet{ObjectMeta: meta(name), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: template()}}
	}},
	{"daemonsets.apps", func(name string) client.Object {
		return &appsv1.DaemonSet{ObjectMeta: meta(name), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: template()}}
	}},
	{"replicasets.apps", func(name string) client.Object {
		return &appsv1.ReplicaSet{ObjectMeta: meta(name), Spec: appsv1.ReplicaSetSpec{Selector: selector(), Template: template()}}
	}},
	{"jobs.batch", func(name string) client.Object {
		t := template()
		t.Labels, t.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
		return &batchv1.Job{ObjectMeta: meta(name), Spec: batchv1.JobSpec{Template: t}}
	}},
	{"poddisruptionbudgets.policy", func(name string) client.Object {
		return &policyv1.PodDisruptionBudget{ObjectMeta: meta(name), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector()}}
	}},
	{"replicationcontrollers", func(name string) client.Object {
		t := template()
		return &corev1.ReplicationController{ObjectMeta: meta(name), Spec: corev1.ReplicationControllerSpec{Selector: t.Labels, Template: &t}}
	}},
	{"nodes", func(name string) client.Object {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}},
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
}

// A habit is how a controller works.
type habit string

const (
	patches habit = "patches" // the status
	shares  habit = "shares"  // its objects with all other controllers: updates conflict
	reads   habit = "reads"   // another kind first, for which the cache starts an informer
	owns    habit = "owns"    // a ConfigMap, which it creates first, and whose event it waits for
)

var habits = []habit{patches, shares, reads, owns}

// A reconciler adds a condition to each object of a kind.
type reconciler struct {
	client.Client
	kind      kind
	condition string
	habit     habit
}

func (r reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := r.kind.new(req.Name)
	if err := r.Get(ctx, req.NamespacedName, o); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch r.habit {
	case shares:
		return reconcile.Result{}, r.update(ctx, o.(*appsv1.Deployment))
	case reads:
		if err := r.List(ctx, &corev1.SecretList{}); err != nil {
			return reconcile.Result{}, err
		}
	case owns:
		child := &corev1.ConfigMap{ObjectMeta: meta(strings.ToLower(req.Name + "-" + r.condition))}
		if err := r.Get(ctx, client.ObjectKeyFromObject(child), child); err == nil {
			break
		} else if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		if err := controllerutil.SetControllerReference(o, child, r.Scheme()); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, client.IgnoreAlreadyExists(r.Create(ctx, child))
	}
	now := metav1.Now().UTC().Format(time.RFC3339)
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":"True","reason":"Reconciled","message":"","lastTransitionTime":%q}]}}`, r.condition, now)
	return reconcile.Result{}, client.IgnoreNotFound(r.Status().Patch(ctx, o, client.RawPatch(client.Merge.Type(), []byte(patch))))
}

// update adds the condition with an update, which fails if another controller was first.
func (r reconciler) update(ctx context.Context, o *appsv1.Deployment) error {
	for _, c := range o.Status.Conditions {
		if string(c.Type) == r.condition {
			return nil
		}
	}
	o.Status.Conditions = append(o.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentConditionType(r.condition), Status: corev1.ConditionTrue})
	return r.Status().Update(ctx, o)
}

// A setup is a manager with controllers.
type setup struct {
	controllers int
	habit       habit
	election    bool
}

func newSetup(rng *rand.Rand, controllers int) setup {
	return setup{controllers, habits[rng.IntN(len(habits))], rng.IntN(4) == 0}
}

// reconcilers returns the reconcilers of the manager.
func (s setup) reconcilers(c client.Client) []reconciler {
	var out []reconciler
	for i := range s.controllers {
		r := reconciler{Client: c, kind: kinds[i%len(kinds)], condition: fmt.Sprintf("Reconciled%d", i), habit: s.habit}
		if s.habit == shares {
			r.kind = kinds[0]
		}
		if s.habit == owns && r.kind.resource == "nodes" { // its child would have a namespace
			r.habit = patches
		}
		out = append(out, r)
	}
	return out
}

// manager returns the manager.
func (s setup) manager(cfg *rest.Config) (manager.Manager, error) {
	yes := true
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              config.Controller{SkipNameValidation: &yes},
		LeaderElection:          s.election,
		LeaderElectionID:        "settle",
		LeaderElectionNamespace: "default",
	})
	if err != nil {
		return nil, err
	}
	for _, r := range s.reconcilers(mgr.GetClient()) {
		b := ctrl.NewControllerManagedBy(mgr).Named(r.condition).For(r.kind.new(""))
		if r.habit == owns {
			b = b.Owns(&corev1.ConfigMap{})
		}
		err = errors.Join(err, b.Complete(r))
	}
	return mgr, err
}

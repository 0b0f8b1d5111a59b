package stalecache

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Use does what a user does in whose cluster the bug shows: it creates a ReplicaSet of
// three Pods, and annotates it a second later.
func Use(ctx context.Context, client kubernetes.Interface) error {
	sets := client.AppsV1().ReplicaSets("default")
	if _, err := sets.Create(ctx, replicaSet("web", 3), metav1.CreateOptions{}); err != nil {
		return err
	}
	time.Sleep(time.Second)
	_, err := sets.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"hello"}}}`), metav1.PatchOptions{})
	return err
}

func replicaSet(name string, replicas int32) *appsv1.ReplicaSet {
	match := map[string]string{"app": name}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: match},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: match},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
			},
		},
	}
}

package versus

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// An operation is what is measured.
type operation struct {
	name string
	// prepare returns what does the operation, in a server that it has prepared.
	// The argument is a number that no operation before has had.
	prepare func(testing.TB, server) func(i int) error
}

// starts reports whether the operation starts a server.
func (o operation) starts() bool { return strings.HasPrefix(o.name, "start") }

// operations returns the operations, with lists of a number of Pods.
func operations(listed int) []operation {
	return []operation{
		{"start", func(tb testing.TB, s server) func(int) error {
			return func(int) error {
				_, stop := s.start(tb)
				stop()
				return nil
			}
		}},
		{"start-and-create", func(tb testing.TB, s server) func(int) error {
			return func(i int) error {
				c, stop := s.start(tb)
				defer stop()
				return c.create(tb.Context(), newPod(i)) // the first request of a client, which may need discovery
			}
		}},
		{"create", func(tb testing.TB, s server) func(int) error {
			c := started(tb, s)
			return func(i int) error { return c.create(tb.Context(), newPod(i)) }
		}},
		{"get", func(tb testing.TB, s server) func(int) error {
			c := started(tb, s)
			pod := newPod(0)
			require.NoError(tb, c.create(tb.Context(), pod))
			return func(int) error { return c.get(tb.Context(), pod.Name) }
		}},
		{"list", func(tb testing.TB, s server) func(int) error {
			c := started(tb, s)
			for i := range listed {
				require.NoError(tb, c.create(tb.Context(), newPod(i)))
			}
			return func(int) error {
				list, err := c.list(tb.Context())
				if err == nil && len(list.Items) != listed {
					err = fmt.Errorf("the list has %d Pods", len(list.Items))
				}
				return err
			}
		}},
		{"update", func(tb testing.TB, s server) func(int) error {
			c, d := startedWithDeployment(tb, s)
			return func(i int) (err error) {
				replicas := int32(i)
				d.Spec.Replicas = &replicas
				d, err = c.update(tb.Context(), d)
				return err
			}
		}},
		{"merge-patch", func(tb testing.TB, s server) func(int) error {
			c, d := startedWithDeployment(tb, s)
			return func(i int) error {
				return c.patch(tb.Context(), d.Name, types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, i))
			}
		}},
		{"strategic-merge-patch", func(tb testing.TB, s server) func(int) error {
			c, d := startedWithDeployment(tb, s)
			return func(i int) error {
				patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:%d"}]}}}}`, i)
				return c.patch(tb.Context(), d.Name, types.StrategicMergePatchType, patch)
			}
		}},
		{"apply", func(tb testing.TB, s server) func(int) error {
			c := started(tb, s)
			return func(i int) error { return c.apply(tb.Context(), deploymentToApply(i)) }
		}},
	}
}

// started starts a server, which stops when the test ends.
func started(tb testing.TB, s server) requester {
	c, stop := s.start(tb)
	tb.Cleanup(stop)
	return c
}

// startedWithDeployment starts a server with a Deployment.
func startedWithDeployment(tb testing.TB, s server) (requester, *appsv1.Deployment) {
	c := started(tb, s)
	d, err := c.createDeployment(tb.Context(), newDeployment())
	require.NoError(tb, err)
	return c, d
}

var labels = map[string]string{"app": "web", "tier": "front"}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name:  "web",
		Image: "web:0",
		Ports: []corev1.ContainerPort{{ContainerPort: 80}},
		Env:   []corev1.EnvVar{{Name: "COLOR", Value: "blue"}},
	}}}
}

func newPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("web-%d", i), Labels: labels},
		Spec:       podSpec(),
	}
}

func newDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
		},
	}
}

// deploymentToApply returns what newDeployment does, with a number of replicas.
func deploymentToApply(replicas int) *applyappsv1.DeploymentApplyConfiguration {
	container := applycorev1.Container().WithName("web").WithImage("web:0").
		WithPorts(applycorev1.ContainerPort().WithContainerPort(80)).
		WithEnv(applycorev1.EnvVar().WithName("COLOR").WithValue("blue"))
	return applyappsv1.Deployment("web", namespace).WithLabels(labels).WithSpec(applyappsv1.DeploymentSpec().
		WithReplicas(int32(replicas)).
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labels).
			WithSpec(applycorev1.PodSpec().WithContainers(container))))
}

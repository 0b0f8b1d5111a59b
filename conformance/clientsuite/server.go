package clientsuite

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

// Config returns a client configuration for s, with the rights of an
// administrator and without a limit of requests.
func Config(s *target.Server) *rest.Config {
	return &rest.Config{
		Host:            s.URL,
		BearerToken:     target.AdminToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             -1,
	}
}

// Namespace creates a namespace for t and returns its name.
func Namespace(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return ns.Name
}

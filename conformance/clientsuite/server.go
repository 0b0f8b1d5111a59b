package clientsuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

// Config returns a client configuration for s with the rights of an administrator
// and without a rate limit.
func Config(s *target.Server) *rest.Config {
	return &rest.Config{
		Host:            s.URL,
		BearerToken:     target.AdminToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             -1,
	}
}

// JSON returns a copy of cfg with which typed clients use JSON instead of protobuf.
func JSON(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.ContentType = runtime.ContentTypeJSON
	return cfg
}

// Encodings runs f as two subtests, each with its own server: in the first one
// typed clients use JSON, in the second one protobuf. The second is skipped if the
// server returns 501 for protobuf.
func Encodings(t *testing.T, f func(t *testing.T, server *target.Server, cfg *rest.Config)) {
	t.Run("JSON", func(t *testing.T) {
		server := target.Start(t)
		f(t, server, JSON(Config(server)))
	})
	t.Run("protobuf", func(t *testing.T) {
		server := target.Start(t)
		skipWithout(t, server, runtime.ContentTypeProtobuf)
		f(t, server, Config(server))
	})
}

// skipWithout skips t if s returns 501 for a media type. A kube-apiserver never
// does.
func skipWithout(t testing.TB, s *target.Server, mediaType string) {
	t.Helper()
	client, err := rest.HTTPClientFor(Config(s))
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/namespaces", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", mediaType)
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotImplemented {
		t.Skip("pending: needs ", mediaType)
	}
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// Namespace creates a namespace for t and returns its name.
func Namespace(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(JSON(cfg))
	require.NoError(t, err)
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return ns.Name
}

package rootcacertpublisher_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func TestRootCA(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/kube-root-ca.crt"
	for _, tls := range []bool{false, true} {
		var options []fakeapi.Option
		if tls {
			options = append(options, fakeapi.WithTLS())
		}
		srv := controllertest.Start(t, "root-ca-certificate-publisher-controller", append(options, fakeapi.WithNamespaces("shop"))...)
		data := func() any {
			controllertest.Settle(t, srv)
			o, err := srv.Get("configmaps", "shop", "kube-root-ca.crt")
			require.NoError(t, err)
			assert.NotEmpty(t, controllertest.Field(o, "metadata", "annotations", "kubernetes.io/description"))
			return o["data"]
		}
		want := map[string]any{"ca.crt": string(srv.CAData)}
		assert.Equal(t, want, data(), "of a new namespace")
		assert.Equal(t, tls, want["ca.crt"] != "")

		controllertest.Delete(t, srv, path, "")
		assert.Equal(t, want, data(), "after a deletion")

		controllertest.Do(t, srv, "PATCH", path, `{"metadata":{"annotations":null},"data":{"ca.crt":"other","more":"x"}}`)
		assert.Equal(t, want, data(), "after a change")
		assert.Contains(t, controllertest.Names(t, srv, "configmaps"), "kube-system/kube-root-ca.crt")
	}
}

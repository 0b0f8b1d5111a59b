package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func TestRootCAPublisher(t *testing.T) {
	t.Parallel()
	const path = shopPath + "/configmaps/kube-root-ca.crt"
	for _, tls := range []bool{false, true} {
		var options []fakeapi.Option
		if tls {
			options = append(options, fakeapi.WithTLS())
		}
		c := startCluster(t, "root-ca-certificate-publisher-controller", append(options, fakeapi.WithNamespaces("shop"))...)
		data := func() any {
			c.Settle()
			o := c.Get("configmaps", "shop", "kube-root-ca.crt")
			assert.NotEmpty(t, object.Value(o, "metadata", "annotations", "kubernetes.io/description"))
			return o["data"]
		}
		want := map[string]any{"ca.crt": string(c.CAData)}
		assert.Equal(t, want, data(), "of a new namespace")
		assert.Equal(t, tls, want["ca.crt"] != "")

		c.Delete(path)
		assert.Equal(t, want, data(), "after a deletion")

		c.MergePatch(path, `{"metadata":{"annotations":null},"data":{"ca.crt":"other","more":"x"}}`)
		assert.Equal(t, want, data(), "after a change")
		assert.Contains(t, c.Names("configmaps"), "kube-system/kube-root-ca.crt")
	}
}

package requests_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Objects of namespaced kinds are selected by their namespace, but for those of a kind that leaves the
// field out.
func TestSelectByNamespace(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, r := range []struct {
		path, message string
	}{
		{"/api/v1/configmaps", ""},
		{"/api/v1/pods", ""},
		{"/api/v1/nodes", `field label not supported: metadata.namespace`},
		{"/apis/certificates.k8s.io/v1/podcertificaterequests", `field label not supported: metadata.namespace`},
	} {
		t.Run(r.path, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "GET", r.path+"?fieldSelector=metadata.namespace%3Ddefault", "")
			if r.message == "" {
				assert.Equal(t, 200, code, answer)
				return
			}
			assert.Equal(t, 400, code)
			assert.Equal(t, r.message, answer["message"])
		})
	}
}

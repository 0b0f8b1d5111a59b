package usage

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubefake/kubefake/internal/authz"
)

func BenchmarkRecord(b *testing.B) {
	var r Recorder
	r.Start()
	request := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/configmaps", nil)
	for i := 0; i < b.N; i++ {
		r.Record(&Need{
			Client:  Client{User: "admin", UserAgent: "manager/v0.0.0 (linux/amd64) kubernetes/$Format"},
			At:      authz.Attributes{Verb: "create", IsResource: true, Version: "v1", Resource: "configmaps", Namespace: "default"},
			Request: request,
		})
	}
}

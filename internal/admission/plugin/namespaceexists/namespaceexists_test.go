package namespaceexists_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespaceexists"
)

func TestPlugin(t *testing.T) {
	admissiontest.Run(t, namespaceexists.Plugin{}, []admissiontest.Request{
		{Name: "exists", Resource: "configmaps", Objects: []string{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n"}}`}, Object: `{"metadata":{"namespace":"n","name":"c"}}`},
		{Name: "missing", Resource: "configmaps", Object: `{"metadata":{"namespace":"n","name":"c"}}`, Error: `namespaces "n" not found`},
		{Name: "cluster scope", Resource: "nodes", Object: `{"metadata":{"name":"c"}}`},
	})
}

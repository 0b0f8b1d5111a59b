package extendedresourcetoleration_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/extendedresourcetoleration"
)

func TestPlugin(t *testing.T) {
	pod := func(requests, tolerations string) string {
		return `{"spec":{"initContainers":[{"name":"c","resources":{"requests":{` + requests + `}}}],"tolerations":[` + tolerations + `]}}`
	}
	toleration := func(name string) string {
		return `{"key":"example.com/` + name + `","operator":"Exists","effect":"NoSchedule"}`
	}
	admissiontest.Run(t, extendedresourcetoleration.Plugin{}, []admissiontest.Request{
		{Name: "extended resources", Resource: "pods", Object: pod(`"example.com/b":"1","cpu":"1","example.com/a":"1"`, ""), Path: "spec.tolerations", Want: `[` + toleration("a") + `,` + toleration("b") + `]`},
		{Name: "replaced", Resource: "pods", Object: pod(`"example.com/a":"1"`, `{"key":"example.com/a","operator":"Exists","effect":"NoSchedule","tolerationSeconds":3},{"key":"k"}`), Path: "spec.tolerations", Want: `[` + toleration("a") + `,{"key":"k"}]`},
		{Name: "none", Resource: "pods", Object: pod(`"cpu":"1"`, ""), Path: "spec.tolerations", Want: `[]`},
	})
}

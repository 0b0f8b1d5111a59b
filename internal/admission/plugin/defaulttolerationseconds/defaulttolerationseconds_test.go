package defaulttolerationseconds_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
)

func TestPods(t *testing.T) {
	const added = `{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}`
	pod := func(tolerations string) string { return `{"spec":{"tolerations":[` + tolerations + `]}}` }
	admissiontest.Run(t, defaulttolerationseconds.Plugin{}, []admissiontest.Request{
		{Name: "none", Resource: "pods", Object: pod(""), Path: "spec.tolerations", Want: `[` + added + `]`},
		{Name: "others", Resource: "pods", Object: pod(`{"key":"k"}`), Path: "spec.tolerations", Want: `[{"key":"k"},` + added + `]`},
		{Name: "of everything", Resource: "pods", Object: pod(`{"operator":"Exists"}`), Path: "spec.tolerations", Want: `[{"operator":"Exists"}]`},
		{Name: "update", Resource: "pods", Object: pod(""), Old: pod(""), Path: "spec.tolerations", Want: `[` + added + `]`},
		{Name: "status", Resource: "pods", Subresource: "status", Object: `{}`, Old: pod(""), Path: "spec.tolerations"},
	})
	admissiontest.Run(t, defaulttolerationseconds.New(0, 10), []admissiontest.Request{
		{Name: "other times", Resource: "pods", Object: pod(""), Path: "spec.tolerations",
			Want: `[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":0},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":10}]`},
	})
}

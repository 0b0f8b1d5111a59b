package defaultingressclass_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultingressclass"
)

func TestIngresses(t *testing.T) {
	class := []string{`{"kind":"IngressClass","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}}`}
	other := []string{`{"kind":"IngressClass","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i"}}`}
	admissiontest.Run(t, defaultingressclass.Plugin{}, []admissiontest.Request{
		{Name: "default class", Resource: "ingresses.networking.k8s.io", Objects: class, Object: `{}`, Path: "spec.ingressClassName", Want: `"i"`},
		{Name: "no default class", Resource: "ingresses.networking.k8s.io", Objects: other, Object: `{}`, Path: "spec.ingressClassName"},
		{Name: "class in the annotation", Resource: "ingresses.networking.k8s.io", Objects: class, Object: `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}}}`, Path: "spec.ingressClassName"},
		{Name: "update", Resource: "ingresses.networking.k8s.io", Objects: class, Object: `{}`, Old: `{}`, Path: "spec.ingressClassName"},
	})
}

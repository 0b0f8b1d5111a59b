package podsecurity_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
)

func TestValidate(t *testing.T) {
	namespace := func(labels string) string {
		return `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","labels":{` + labels + `}}}`
	}
	enforced, warned := namespace(`"pod-security.kubernetes.io/enforce":"baseline"`), namespace(`"pod-security.kubernetes.io/warn":"baseline"`)
	const (
		violation  = `violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`
		hostPod    = `{"metadata":{"name":"p","namespace":"n"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`
		hostPodTwo = `{"metadata":{"name":"p","namespace":"n"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"j"}]}}`
		template   = `{"metadata":{"name":"p","namespace":"n"},"spec":{"template":` + hostPod + `}}`
	)
	admissiontest.Run(t, podsecurity.Plugin{}, []admissiontest.Request{
		{Name: "pod", Resource: "pods", Object: hostPod, Objects: []string{enforced}, Error: "violates" + violation[len("violate"):]},
		{Name: "update without another image", Resource: "pods", Object: hostPod, Old: hostPod, Objects: []string{enforced}},
		{Name: "update with another image", Resource: "pods", Object: hostPodTwo, Old: hostPod, Objects: []string{enforced}, Error: "violates" + violation[len("violate"):]},
		{Name: "pod with a warning", Resource: "pods", Object: hostPod, Objects: []string{warned}, Warnings: []string{"would " + violation}},
		{Name: "namespace without labels", Resource: "pods", Object: hostPod},
		{Name: "template of a deployment", Resource: "deployments.apps", Object: template, Objects: []string{enforced}, Warnings: []string{"would " + violation}},
		{Name: "template of a cron job", Resource: "cronjobs.batch", Object: `{"metadata":{"namespace":"n"},"spec":{"jobTemplate":{"spec":{"template":` + hostPod + `}}}}`, Objects: []string{warned}, Warnings: []string{"would " + violation}},
		{Name: "no template", Resource: "replicationcontrollers", Object: `{"metadata":{"namespace":"n"},"spec":{}}`, Objects: []string{warned}},
		{Name: "stricter namespace", Resource: "namespaces", Object: enforced, Old: namespace(""),
			Objects:  []string{`{"kind":"Pod","apiVersion":"v1",` + hostPod[1:], `{"kind":"Pod","apiVersion":"v1",` + `"metadata":{"name":"a","namespace":"n"},` + hostPod[len(`{"metadata":{"name":"p","namespace":"n"},`):]},
			Warnings: []string{`existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"`, "a (and 1 other pod): host namespaces"}},
		{Name: "relaxed namespace", Resource: "namespaces", Object: enforced, Old: namespace(`"pod-security.kubernetes.io/enforce":"restricted"`), Objects: []string{`{"kind":"Pod","apiVersion":"v1",` + hostPod[1:]}},
		{Name: "invalid label", Resource: "namespaces", Object: namespace(`"pod-security.kubernetes.io/enforce":"x"`),
			Error: `Namespace "n" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted`},
		{Name: "invalid label that does not change", Resource: "namespaces", Object: namespace(`"pod-security.kubernetes.io/enforce":"x"`), Old: namespace(`"pod-security.kubernetes.io/enforce":"x"`)},
	})
}

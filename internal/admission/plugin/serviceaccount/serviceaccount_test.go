package serviceaccount_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/serviceaccount"
)

func TestPods(t *testing.T) {
	const (
		token   = "/var/run/secrets/kubernetes.io/serviceaccount"
		added   = `{"name":"kube-api-access-xxxxx","readOnly":true,"mountPath":"` + token + `"}`
		missing = `error looking up service account n/robot: serviceaccount "robot" not found`
		unlist  = ` is not allowed because service account strict does not reference that secret`
	)
	objects := []string{
		`{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"default","namespace":"n"},"imagePullSecrets":[{"name":"pull"}]}`,
		`{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"bare","namespace":"n"},"automountServiceAccountToken":false}`,
		`{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"strict","namespace":"n","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}},"secrets":[{"name":"a"}],"imagePullSecrets":[{"name":"pull"}]}`,
	}
	pod := func(spec string) string { return `{"metadata":{"name":"p","namespace":"n"},"spec":{` + spec + `}}` }
	containers := func(c string) string { return `"containers":[{"name":"c"` + c + `}]` }
	mirror := func(spec string) string {
		return `{"metadata":{"name":"p","namespace":"n","annotations":{"kubernetes.io/config.mirror":""}},"spec":{` + spec + `}}`
	}
	strict := func(spec string) string { return pod(`"serviceAccountName":"strict",` + spec) }
	requests := []admissiontest.Request{
		{Name: "account", Object: pod(containers("")), Path: "spec.serviceAccountName", Want: `"default"`},
		{Name: "deprecated name of the account", Object: pod(containers("")), Path: "spec.serviceAccount", Want: `"default"`},
		{Name: "missing account", Object: pod(`"serviceAccountName":"robot",` + containers("")), Error: missing},
		{Name: "mount", Object: pod(containers("")), Path: "spec.containers.0.volumeMounts", Want: `[` + added + `]`},
		{Name: "mount of an init container", Object: pod(`"initContainers":[{"name":"i"}],` + containers("")), Path: "spec.initContainers.0.volumeMounts", Want: `[` + added + `]`},
		{Name: "volume", Object: pod(containers("")), Path: "spec.volumes", Want: `[{"name":"kube-api-access-xxxxx","projected":{"defaultMode":420,"sources":[
			{"serviceAccountToken":{"path":"token","expirationSeconds":3607}},
			{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
			{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}]}}]`},
		{Name: "volume that is there", Object: pod(`"volumes":[{"name":"kube-api-access-a"}],` + containers("")), Path: "spec.containers.0.volumeMounts.0.name", Want: `"kube-api-access-a"`},
		{Name: "mount that is there", Object: pod(containers(`,"volumeMounts":[{"name":"v","mountPath":"` + token + `"}]`)), Path: "spec.volumes"},
		{Name: "no token for the pod", Object: pod(`"automountServiceAccountToken":false,` + containers("")), Path: "spec.volumes"},
		{Name: "no token for the account", Object: pod(`"serviceAccountName":"bare",` + containers("")), Path: "spec.volumes"},
		{Name: "token for the pod", Object: pod(`"serviceAccountName":"bare","automountServiceAccountToken":true,` + containers("")), Path: "spec.containers.0.volumeMounts", Want: `[` + added + `]`},
		{Name: "pull secrets", Object: pod(containers("")), Path: "spec.imagePullSecrets", Want: `[{"name":"pull"}]`},
		{Name: "own pull secrets", Object: pod(`"imagePullSecrets":[{"name":"own"}],` + containers("")), Path: "spec.imagePullSecrets", Want: `[{"name":"own"}]`},
		{Name: "update", Object: pod(containers("")), Old: pod(containers("")), Path: "spec.serviceAccountName"},

		{Name: "mirror pod", Object: mirror(containers("")), Path: "spec.serviceAccountName"},
		{Name: "mirror pod with an account", Object: mirror(`"serviceAccountName":"default"`), Error: "a mirror pod may not reference service accounts"},
		{Name: "mirror pod with a Secret", Object: mirror(`"volumes":[{"name":"v","secret":{"secretName":"a"}}]`), Error: "a mirror pod may not reference secrets"},
		{Name: "mirror pod with a token", Object: mirror(`"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"p"}}]}}]`), Error: "a mirror pod may not use ServiceAccountToken volume projections"},

		{Name: "listed Secrets", Object: strict(`"volumes":[{"name":"v","secret":{"secretName":"a"}}],"containers":[{"name":"c","envFrom":[{"secretRef":{"name":"a"}}]}]`)},
		{Name: "Secret of a volume", Object: strict(`"volumes":[{"name":"v","secret":{"secretName":"b"}}],` + containers("")), Error: `volume with secret.secretName="b"` + unlist},
		{Name: "Secret of a variable", Object: strict(containers(`,"env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"b","key":"k"}}}]`)), Error: `container c with envVar E referencing secret.secretName="b"` + unlist},
		{Name: "Secret of variables", Object: strict(`"initContainers":[{"name":"i","envFrom":[{"secretRef":{"name":"b"}}]}]`), Error: `init container i with envFrom referencing secret.secretName="b"` + unlist},
		{Name: "pull secret", Object: strict(`"imagePullSecrets":[{"name":"own"}],` + containers("")), Error: `imagePullSecrets[0].name="own" is not allowed because service account strict does not reference that imagePullSecret`},
		{Name: "Secret of an ephemeral container", Subresource: "ephemeralcontainers", Old: strict(containers("")), Object: strict(`"ephemeralContainers":[{"name":"e","envFrom":[{"secretRef":{"name":"b"}}]}]`), Error: `ephemeral container e with envFrom referencing secret.secretName="b"` + unlist},
		{Name: "ephemeral container without an account", Subresource: "ephemeralcontainers", Old: pod(containers("")), Object: pod(containers("")), Error: "no service account specified for pod n/p"},
	}
	for i := range requests {
		requests[i].Resource, requests[i].Objects = "pods", objects
	}
	admissiontest.Run(t, serviceaccount.Plugin{}, requests)
}

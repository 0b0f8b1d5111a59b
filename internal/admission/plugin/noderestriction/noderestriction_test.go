package noderestriction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/noderestriction"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

var (
	kubelet = &authn.User{Name: "system:node:n1", Groups: []string{authn.NodesGroup}}
	stored  = []string{
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u1"}}`,
		`{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"robot","namespace":"n","uid":"us"}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p1","namespace":"n","uid":"up"},"spec":{"nodeName":"n1","serviceAccountName":"robot","volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{"audience":"mine"}},{"podCertificate":{"signerName":"a.com/mine"}}]}},{"name":"c","persistentVolumeClaim":{"claimName":"c"}},{"name":"d","awsElasticBlockStore":{"volumeID":"v"}}]}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p2","namespace":"n","uid":"up2"},"spec":{"nodeName":"n2"}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"lost","namespace":"n","uid":"ul"},"spec":{"nodeName":"n1","volumes":[{"name":"c","persistentVolumeClaim":{"claimName":"x"}}]}}`,
		`{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c","namespace":"n"},"spec":{"volumeName":"v"}}`,
		`{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"v"},"spec":{"csi":{"driver":"d"}}}`,
		`{"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":"d"},"spec":{"tokenRequests":[{"audience":"driver"}]}}`,
		`{"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":"ebs.csi.aws.com"},"spec":{"tokenRequests":[{"audience":"aws"}]}}`,
	}
)

// run runs requests of the kubelet of n1.
func run(t *testing.T, requests []admissiontest.Request) {
	t.Helper()
	for i := range requests {
		requests[i].Objects = stored
		if requests[i].User == nil {
			requests[i].User = kubelet
		}
	}
	admissiontest.Run(t, noderestriction.Plugin{}, requests)
}

func TestMirrorPods(t *testing.T) {
	const owner = `{"apiVersion":"v1","kind":"Node","name":"n1","uid":"u1","controller":true}`
	pod := func(annotations, owners, spec string) string {
		return fmt.Sprintf(`{"metadata":{"name":"m","namespace":"n","annotations":{%s},"ownerReferences":[%s]},"spec":{"nodeName":"n1",%s"containers":[{"name":"c","image":"i"}]}}`, annotations, owners, spec)
	}
	mirror := func(spec string) string { return pod(`"kubernetes.io/config.mirror":"x"`, owner, spec) }
	owned := func(owners string) string { return pod(`"kubernetes.io/config.mirror":"x"`, owners, "") }
	volume := func(source string) string { return mirror(`"volumes":[{"name":"v",` + source + `}],`) }
	refers := func(what string) string { return `node "n1" can not create pods that reference ` + what }
	run(t, []admissiontest.Request{
		{Name: "mirror pod", Resource: "pods", Object: volume(`"hostPath":{"path":"/"}`)},
		{Name: "another user", Resource: "pods", User: &authn.User{Name: "system:node:n1"}, Object: pod("", "", "")},
		{Name: "no name", Resource: "pods", User: &authn.User{Name: "system:node:", Groups: kubelet.Groups}, Object: mirror(""), Error: `could not determine node from user "system:node:"`},
		{Name: "not a mirror pod", Resource: "pods", Object: pod("", owner, ""), Error: `pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods`},
		{Name: "update", Resource: "pods", Old: mirror(""), Object: mirror(""), Error: `unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`},
		{Name: "subresource", Resource: "pods", Subresource: "ephemeralcontainers", Old: mirror(""), Object: mirror(""), Error: `unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed`},
		{Name: "no owner", Resource: "pods", Object: owned(""), Error: `node "n1" can only create pods with an owner reference set to itself`},
		{Name: "two owners", Resource: "pods", Object: owned(owner + `,{"uid":"x"}`), Error: `node "n1" can only create pods with a single owner reference set to itself`},
		{Name: "another owner", Resource: "pods", Object: owned(`{"apiVersion":"v1","kind":"Node","name":"n2"}`), Error: `node "n1" can only create pods with an owner reference set to itself`},
		{Name: "no controller", Resource: "pods", Object: owned(`{"apiVersion":"v1","kind":"Node","name":"n1"}`), Error: `node "n1" can only create pods with a controller owner reference set to itself`},
		{Name: "blocking owner", Resource: "pods", Object: owned(`{"apiVersion":"v1","kind":"Node","name":"n1","controller":true,"blockOwnerDeletion":true}`), Error: `node "n1" must not set blockOwnerDeletion on an owner reference`},
		{Name: "wrong UID", Resource: "pods", Object: owned(`{"apiVersion":"v1","kind":"Node","name":"n1","uid":"x","controller":true}`), Error: `node n1 UID mismatch: expected x got u1`},
		{Name: "ServiceAccount", Resource: "pods", Object: mirror(`"serviceAccountName":"a",`), Error: refers("serviceaccounts")},
		{Name: "image pull secret", Resource: "pods", Object: mirror(`"imagePullSecrets":[{"name":"s"}],`), Error: refers("secrets")},
		{Name: "ConfigMap", Resource: "pods", Object: volume(`"configMap":{"name":"c"}`), Error: refers("configmaps")},
		{Name: "CSI volume", Resource: "pods", Object: volume(`"csi":{"driver":"d"}`), Error: refers("csidrivers (via CSI volumes)")},
		{Name: "token", Resource: "pods", Object: volume(`"projected":{"sources":[{"downwardAPI":{}},{"serviceAccountToken":{"path":"p"}}]}`), Error: refers("serviceaccounts (via projected volumes)")},
		{Name: "claim", Resource: "pods", Object: mirror(`"resourceClaims":[{"name":"r"}],`), Error: refers("resourceclaims")},
		{Name: "ServiceAccount before 1.34", Minor: 33, Resource: "pods", Object: mirror(`"serviceAccountName":"a",`), Error: refers("a service account")},
		{Name: "CSI volume before 1.34", Minor: 33, Resource: "pods", Object: volume(`"csi":{"driver":"d"}`)},
		{Name: "volume claim before 1.34", Minor: 33, Resource: "pods", Object: volume(`"persistentVolumeClaim":{"claimName":"c"}`), Error: refers("persistentvolumeclaims")},
	})
}

func TestPodStatus(t *testing.T) {
	pod := func(node, labels, status string) string {
		return fmt.Sprintf(`{"metadata":{"name":"p","namespace":"n","labels":{%s}},"spec":{"nodeName":"%s","containers":[{"name":"c","image":"i"}]},"status":{%s}}`, labels, node, status)
	}
	was := pod("n1", "", "")
	run(t, []admissiontest.Request{
		{Name: "phase", Resource: "pods", Subresource: "status", Old: was, Object: pod("n1", "", `"phase":"Running"`)},
		{Name: "another node", Resource: "pods", Subresource: "status", Old: pod("n2", "", ""), Object: was, Error: `node "n1" can only update pod status for pods with spec.nodeName set to itself`},
		{Name: "labels", Resource: "pods", Subresource: "status", Old: was, Object: pod("n1", `"a":"b"`, ""), Error: `node "n1" cannot update labels through pod status`},
		{Name: "claims", Resource: "pods", Subresource: "status", Old: was, Object: pod("n1", "", `"resourceClaimStatuses":[{"name":"a"}]`), Error: `node "n1" cannot update resource claim statues`},
		{Name: "extended claim", Resource: "pods", Subresource: "status", Old: was, Object: pod("n1", "", `"extendedResourceClaimStatus":{"resourceClaimName":"a"}`), Error: `node "n1" cannot update extended resource claim status`},
		{Name: "claim for allocatable resources", Resource: "pods", Minor: 37, Subresource: "status", Old: was, Object: pod("n1", "", `"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"a"}]`), Error: `node "n1" cannot update node allocatable resource claim statuses`},
		{Name: "claim for allocatable resources before v1.37", Resource: "pods", Minor: 36, Subresource: "status", Old: was, Object: pod("n1", "", `"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"a"}]`)},
		{Name: "eviction", Resource: "pods", Subresource: "eviction", Object: `{"metadata":{"name":"p1","namespace":"n"}}`},
		{Name: "eviction from another node", Resource: "pods", Subresource: "eviction", Object: `{"metadata":{"name":"p2","namespace":"n"}}`, Error: `node n1 can only evict pods with spec.nodeName set to itself`},
		{Name: "eviction of no pod", Resource: "pods", Subresource: "eviction", Object: `{"metadata":{"name":"x","namespace":"n"}}`, Error: `pod "x" not found`},
	})
}

func TestNodes(t *testing.T) {
	node := func(name, labels, rest string) string {
		return fmt.Sprintf(`{"metadata":{"name":"%s","labels":{%s}},"spec":{%s}}`, name, labels, rest)
	}
	was := node("n1", `"a":"b","x.k8s.io/y":"z"`, "")
	run(t, []admissiontest.Request{
		{Name: "create", Resource: "nodes", Object: node("n1", `"a":"b","kubernetes.io/hostname":"h","x.kubelet.kubernetes.io/y":"z","beta.kubernetes.io/os":"linux"`, "")},
		{Name: "another node", Resource: "nodes", Object: node("n2", "", ""), Error: `node "n1" is not allowed to modify node "n2"`},
		{Name: "forbidden labels", Resource: "nodes", Object: node("n1", `"kubernetes.io/x":"","a.node-restriction.kubernetes.io/x":"","b":""`, ""), Error: `node "n1" is not allowed to set the following labels: a.node-restriction.kubernetes.io/x, kubernetes.io/x`},
		{Name: "configSource", Resource: "nodes", Object: node("n1", "", `"configSource":{}`), Error: `node "n1" is not allowed to create pods with a non-nil configSource`},
		{Name: "other labels", Resource: "nodes", Old: was, Object: node("n1", `"c":"d","x.k8s.io/y":"z"`, "")},
		{Name: "removed label", Resource: "nodes", Old: was, Object: node("n1", `"a":"b"`, ""), Error: `is not allowed to modify labels: x.k8s.io/y`},
		{Name: "taints", Resource: "nodes", Old: was, Object: node("n1", `"x.k8s.io/y":"z"`, `"taints":[{"key":"k","effect":"NoSchedule"}]`), Error: `node "n1" is not allowed to modify taints`},
		{Name: "owners", Resource: "nodes", Subresource: "status", Old: was, Object: `{"metadata":{"name":"n1","ownerReferences":[{"name":"x"}]}}`, Error: `node "n1" is not allowed to modify ownerReferences`},
	})
}

func TestClaims(t *testing.T) {
	claim := func(labels, status string) string {
		return fmt.Sprintf(`{"metadata":{"name":"c","namespace":"n","labels":{%s}},"status":{"phase":"Bound"%s}}`, labels, status)
	}
	const refusal = `node "n1" is not allowed to update fields other than status.quantity and status.conditions: `
	run(t, []admissiontest.Request{
		{Name: "capacity", Resource: "persistentvolumeclaims", Subresource: "status", Old: claim("", ""), Object: claim("", `,"capacity":{"storage":"1"},"conditions":[{"type":"t"}],"allocatedResources":{"storage":"2"}`)},
		{Name: "labels", Resource: "persistentvolumeclaims", Subresource: "status", Old: claim("", ""), Object: claim(`"a":"b"`, ""), Error: refusal},
		{Name: "access modes", Resource: "persistentvolumeclaims", Subresource: "status", Old: claim("", ""), Object: claim("", `,"accessModes":["ReadOnlyMany"]`), Error: refusal},
		{Name: "allocated resources without the gate", Minor: 33, Gates: map[string]bool{"RecoverVolumeExpansionFailure": false}, Resource: "persistentvolumeclaims", Subresource: "status", Old: claim("", ""), Object: claim("", `,"allocatedResources":{"storage":"2"}`), Error: refusal},
		{Name: "the object", Resource: "persistentvolumeclaims", Old: claim("", ""), Object: claim("", ""), Error: "may only update PVC status"},
	})
}

func TestTokens(t *testing.T) {
	request := func(name, uid, audiences string) string {
		return fmt.Sprintf(`{"metadata":{"name":"robot","namespace":"n"},"spec":{"audiences":[%s],"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"%s","uid":"%s"}}}`, audiences, name, uid)
	}
	forbidden := []string{"request-serviceaccounts-token-audience other robot", "request-serviceaccounts-token-audience driver robot", "request-serviceaccounts-token-audience  robot"}
	other := `audience "other" not found in pod spec volume`
	for _, r := range []admissiontest.Request{
		{Name: "audience of a projection", Forbidden: forbidden, Object: request("p1", "up", `"mine"`)},
		{Name: "audience of a driver", Forbidden: forbidden, Object: request("p1", "up", `"driver"`)},
		{Name: "audience of a migrated volume", Forbidden: forbidden, Object: request("p1", "up", `"aws"`)},
		{Name: "audience that is permitted", Object: request("p1", "up", `"other"`)},
		{Name: "audience that is not permitted", Forbidden: forbidden, Object: request("p1", "up", `"other"`), Error: other + ", system:node:n1 is not authorized to request tokens for this audience"},
		{Name: "audience that is not permitted in 1.37", Minor: 37, Forbidden: forbidden, Object: request("p1", "up", `"other"`), Error: `system:node:n1 is not authorized to request tokens for audience "other"`},
		{Name: "audience in 1.32", Minor: 32, Gates: map[string]bool{"ServiceAccountNodeAudienceRestriction": true}, Object: request("p1", "up", `"other"`), Error: other},
		{Name: "audience without the gate", Minor: 32, Forbidden: forbidden, Object: request("p1", "up", `"other"`)},
		{Name: "two audiences", Object: request("p1", "up", `"a","b"`), Error: "node may only request 0 or 1 audiences"},
		{Name: "missing claim", Object: request("lost", "ul", `"a"`), Error: `error validating audience "a": persistentvolumeclaim "x" not found`},
		{Name: "unbound", Object: `{"metadata":{"name":"robot","namespace":"n"},"spec":{}}`, Error: "node requested token not bound to a pod"},
		{Name: "no UID", Object: request("p1", "", ""), Error: "node requested token with a pod binding without a uid"},
		{Name: "wrong UID", Object: request("p1", "x", ""), Error: "the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated"},
		{Name: "pod of another node", Object: request("p2", "up2", ""), Error: "node requested token bound to a pod scheduled on a different node"},
		{Name: "no pod", Object: request("x", "x", ""), Error: `pod "x" not found`},
	} {
		body := r.Object
		r.Resource, r.Subresource, r.Object = "serviceaccounts", "token", `{"metadata":{"name":"robot","namespace":"n"}}`
		runBody(t, r, body)
	}
}

func TestOwnObjects(t *testing.T) {
	named := func(namespace, name string) string {
		return fmt.Sprintf(`{"metadata":{"name":"%s","namespace":"%s"}}`, name, namespace)
	}
	slice := func(node string) string {
		return fmt.Sprintf(`{"metadata":{"name":"s"},"spec":{"nodeName":"%s"}}`, node)
	}
	run(t, []admissiontest.Request{
		{Name: "Lease", Resource: "leases.coordination.k8s.io", Object: named("kube-node-lease", "n1")},
		{Name: "another Lease", Resource: "leases.coordination.k8s.io", Object: named("kube-node-lease", "n2"), Error: "can only access node lease with the same name as the requesting node"},
		{Name: "Lease elsewhere", Resource: "leases.coordination.k8s.io", Object: named("n", "n1"), Error: `can only access leases in the "kube-node-lease" system namespace`},
		{Name: "CSINode", Resource: "csinodes.storage.k8s.io", Object: named("", "n1")},
		{Name: "status of the CSINode", Resource: "csinodes.storage.k8s.io", Subresource: "status", Old: named("", "n1"), Object: `{"metadata":{"name":"n1"},"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, Error: `node "n1" is not allowed to modify CSINode spec via status`},
		{Name: "another CSINode", Resource: "csinodes.storage.k8s.io", Object: named("", "n2"), Error: "can only access CSINode with the same name as the requesting node"},
		{Name: "ResourceSlice", Resource: "resourceslices.resource.k8s.io", Object: slice("n1")},
		{Name: "another ResourceSlice", Resource: "resourceslices.resource.k8s.io", Object: slice("n2"), Error: "can only create ResourceSlice with the same NodeName as the requesting node"},
		{Name: "update of a ResourceSlice", Resource: "resourceslices.resource.k8s.io", Old: slice("n2"), Object: slice("n2")},
		{Name: "certificate of another signer", Resource: "certificatesigningrequests.certificates.k8s.io", Object: `{"metadata":{"name":"c"},"spec":{"signerName":"a/b"}}`},
		{Name: "unreadable certificate request", Resource: "certificatesigningrequests.certificates.k8s.io", Object: `{"metadata":{"name":"c"},"spec":{"signerName":"kubernetes.io/kubelet-serving"}}`, Error: "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"},
		{Name: "with the insecure gate", Gates: map[string]bool{"AllowInsecureKubeletCertificateSigningRequests": true}, Resource: "certificatesigningrequests.certificates.k8s.io", Object: `{"metadata":{"name":"c"},"spec":{"signerName":"kubernetes.io/kubelet-serving"}}`},
	})
}

func TestPodCertificateRequests(t *testing.T) {
	request := func(change string) string {
		fields := map[string]string{"nodeName": "n1", "nodeUID": "u1", "podName": "p1", "podUID": "up", "serviceAccountName": "robot", "serviceAccountUID": "us"}
		if change != "" {
			fields[change] = "x"
		}
		text := ""
		for name, value := range fields {
			text += fmt.Sprintf(`,"%s":"%s"`, name, value)
		}
		return `{"metadata":{"name":"c","namespace":"n"},"spec":{` + text[1:] + `}}`
	}
	rows := []admissiontest.Request{
		{Name: "accepted", Object: request("")},
		{Name: "nodeName", Object: request("nodeName"), Error: `PodCertificateRequest.Spec.NodeName="x", which is not the requesting node "n1"`},
		{Name: "nodeUID", Object: request("nodeUID"), Error: `PodCertificateRequest for pod "n/p1" names node UID "x", inconsistent with the running node ("u1")`},
		{Name: "podName", Object: request("podName"), Error: `while retrieving pod "n/x" named in the PodCertificateRequest: pod "x" not found`},
		{Name: "podUID", Object: request("podUID"), Error: `PodCertificateRequest for pod "n/p1" contains pod UID ("x") which differs from running pod "up"`},
		{Name: "serviceAccountName", Object: request("serviceAccountName"), Error: `PodCertificateRequest for pod "n/p1" contains serviceAccountName ("x") that differs from running pod ("robot")`},
		{Name: "serviceAccountUID", Object: request("serviceAccountUID"), Error: `PodCertificateRequest for pod "n/p1" names service account UID "x", which differs from the running service account ("us")`},
	}
	for i := range rows {
		rows[i].Gates = map[string]bool{"PodCertificateRequest": true}
	}
	signed := func(signer string) string {
		return strings.Replace(request(""), `"spec":{`, `"spec":{"signerName":"`+signer+`",`, 1)
	}
	signer := []string{"request-serviceaccounts-podcertificate-signer a.com:other robot"}
	rows = append(rows,
		admissiontest.Request{Name: "signer of a volume", Minor: 37, Forbidden: signer, Object: signed("a.com/mine")},
		admissiontest.Request{Name: "signer that is permitted", Minor: 37, Object: signed("a.com/other")},
		admissiontest.Request{Name: "signer that is not permitted", Minor: 37, Forbidden: signer, Object: signed("a.com/other"), Error: `pod "n/p1" does not mount a podCertificate projected volume for signer "a.com/other"`},
		admissiontest.Request{Name: "signer in 1.36", Gates: map[string]bool{"PodCertificateRequest": true}, Forbidden: signer, Object: signed("a.com/other")},
	)
	rows = append(rows, admissiontest.Request{Name: "gate is off", Object: request(""), Error: "PodCertificateRequest feature gate is disabled"})
	for _, r := range rows {
		body := r.Object
		r.Resource, r.Object = "certificatesigningrequests.certificates.k8s.io", `{}`
		runBody(t, r, body, func(a *admission.Attributes) {
			a.Type = &resource.Type{GroupVersion: a.Type.GroupVersion, Name: "podcertificaterequests"}
			a.Namespace = "n"
		})
	}
}

// runBody runs a request of the kubelet with a body of another kind than that of the
// resource. change changes the attributes.
func runBody(t *testing.T, r admissiontest.Request, body string, change ...func(*admission.Attributes)) {
	t.Run(r.Name, func(t *testing.T) {
		r.Objects, r.User = stored, kubelet
		a := r.Attributes(t)
		a.Object = nil
		require.NoError(t, json.Unmarshal([]byte(body), &a.Object))
		for _, f := range change {
			f(a)
		}
		check(t, r.Error, noderestriction.Plugin{}.Mutate(a))
	})
}

// check checks the error of a plugin, "" for none.
func check(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		assert.NoError(t, err)
		return
	}
	assert.EqualError(t, err, want)
}

func TestDeletions(t *testing.T) {
	for _, tt := range []struct{ name, resource, obj, want string }{
		{"pod", "pods", `{"metadata":{"name":"p1","namespace":"n"}}`, ""},
		{"pod of another node", "pods", `{"metadata":{"name":"p2","namespace":"n"}}`, `node "n1" can only delete pods with spec.nodeName set to itself`},
		{"ResourceSlice", "resourceslices.resource.k8s.io", `{"metadata":{"name":"s"},"spec":{"nodeName":"n1"}}`, ""},
		{"ResourceSlice of another node", "resourceslices.resource.k8s.io", `{"metadata":{"name":"s"},"spec":{"nodeName":"n2"}}`, "can only delete ResourceSlice with the same NodeName as the requesting node"},
		{"another resource", "configmaps", `{"metadata":{"name":"c","namespace":"n"}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := admissiontest.Request{Resource: tt.resource, Object: tt.obj, Objects: stored, User: kubelet}
			a := r.Attributes(t)
			a.Operation, a.Object, a.Old = admission.Delete, nil, object.ViewOf(a.Object)
			check(t, tt.want, noderestriction.Plugin{}.CheckOperation(a))
		})
	}
}

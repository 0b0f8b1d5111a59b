package noderestriction

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
)

// unclassified returns an error that is answered with 500: the kubelet may try again.
func unclassified(format string, args ...any) error {
	return status.Unclassified(fmt.Sprintf(format, args...))
}

// checkCertificateFor compares the spec of a PodCertificateRequest with the node, the pod
// and the ServiceAccount that it names.
func checkCertificateFor(a *admission.Attributes, node string, spec map[string]any) error {
	text := func(field string) string { return object.String(spec, field) }
	uid := func(obj object.View) string { return obj.String("metadata", "uid") }
	podName := a.Namespace + "/" + text("podName")
	if text("nodeName") != node {
		return fmt.Errorf("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", text("nodeName"), node)
	}
	own, err := get(a, "Node", "", node)
	switch {
	case err != nil:
		return unclassified("while retrieving node %q named in the PodCertificateRequest: %v", node, err)
	case uid(own) != text("nodeUID"):
		return unclassified("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", podName, text("nodeUID"), uid(own))
	}
	pod, err := get(a, "Pod", a.Namespace, text("podName"))
	switch {
	case err != nil:
		return unclassified("while retrieving pod %q named in the PodCertificateRequest: %v", podName, err)
	case uid(pod) != text("podUID"):
		return unclassified("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", podName, text("podUID"), uid(pod))
	case nodeName(pod) != node:
		return fmt.Errorf("pod %q is not running on node %q named in the PodCertificateRequest", podName, node)
	case pods.IsMirror(pod):
		return fmt.Errorf("pod %q is a mirror pod", podName)
	}
	account, used := text("serviceAccountName"), pod.String("spec", "serviceAccountName")
	if account != used {
		return fmt.Errorf("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)", podName, account, used)
	}
	stored, err := get(a, "ServiceAccount", a.Namespace, account)
	switch {
	case err != nil:
		return unclassified("while retrieving service account %q named in the PodCertificateRequest: %v", a.Namespace+"/"+account, err)
	case uid(stored) != text("serviceAccountUID"):
		return unclassified("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)", podName, text("serviceAccountUID"), uid(stored))
	}
	if !a.Access.Release().Has(behavior.AuthorizesSigners) {
		return nil
	}
	return checkSigner(a, pod, text("signerName"), account)
}

// checkSigner allows the signers whose certificates the volumes of the pod need, and those that the
// kubelet is authorized for. RBAC cannot name a resource with a slash.
func checkSigner(a *admission.Attributes, pod object.View, signer, account string) error {
	for v := range pod.At("spec", "volumes").Objects() {
		for source := range v.At("projected", "sources").Objects() {
			if certificate := source.At("podCertificate"); !certificate.IsNil() && certificate.String("signerName") == signer {
				return nil
			}
		}
	}
	d := authorize(a, "request-serviceaccounts-podcertificate-signer", strings.ReplaceAll(signer, "/", ":"), account)
	switch {
	case d.Allowed:
		return nil
	case d.Err != nil:
		return fmt.Errorf("error authorizing %s to request podcertificaterequests for signer %q: %w", a.User.Name, signer, d.Err)
	}
	return fmt.Errorf("pod %q does not mount a podCertificate projected volume for signer %q", a.Namespace+"/"+pod.String("metadata", "name"), signer)
}

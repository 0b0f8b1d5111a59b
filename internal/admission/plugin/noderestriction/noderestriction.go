// Package noderestriction is the NodeRestriction admission plugin. It restricts what a
// kubelet writes to its node and the pods on it, beyond what the authorization mode Node
// can know of a request.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction.
package noderestriction

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Mutator] and [admission.OperationPlugin].
type Plugin struct{}

var (
	_ admission.Mutator         = Plugin{}
	_ admission.OperationPlugin = Plugin{}
)

// Name returns "NodeRestriction".
func (Plugin) Name() string { return "NodeRestriction" }

// A rule checks an operation of a kubelet on a resource.
type rule func(a *admission.Attributes, node string) error

var rules = map[status.GroupResource]rule{
	{Resource: "pods"}:                   checkPod,
	{Resource: "nodes"}:                  checkNode,
	{Resource: "persistentvolumeclaims"}: checkClaim,
	{Resource: "serviceaccounts"}:        checkServiceAccount,

	{Group: "coordination.k8s.io", Resource: "leases"}:                     checkLease,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                        checkCSINode,
	{Group: "resource.k8s.io", Resource: "resourceslices"}:                 checkResourceSlice,
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: checkSigningRequest,
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}:     checkPodCertificateRequest,
}

// Resources returns the resources that kubelets write with restrictions.
func (Plugin) Resources() []status.GroupResource {
	all := make([]status.GroupResource, 0, len(rules))
	for r := range rules {
		all = append(all, r)
	}
	return all
}

// Operations returns Delete.
func (Plugin) Operations() []admission.Operation { return []admission.Operation{admission.Delete} }

// Mutate refuses a write that a kubelet may not make.
func (Plugin) Mutate(a *admission.Attributes) error { return check(a) }

// CheckOperation refuses a deletion that a kubelet may not make.
func (Plugin) CheckOperation(a *admission.Attributes) error { return check(a) }

func check(a *admission.Attributes) error {
	if a.User == nil {
		return nil
	}
	node, ok := a.User.Node()
	switch {
	case !ok:
		return nil
	case node == "":
		return fmt.Errorf("could not determine node from user %q", a.User.Name)
	}
	if rule := rules[a.GroupResource()]; rule != nil {
		return rule(a, node)
	}
	return nil
}

// get returns an object of the core group, or a 404 with the name of the kind, which
// kube-apiserver's caches have in place of the resource.
func get(a *admission.Attributes, kind, namespace, name string) (object.View, error) {
	if obj := a.Reader.Get(resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: kind}, namespace, name); !obj.IsNil() {
		return obj, nil
	}
	return object.View{}, status.NotFound(status.GroupResource{Resource: strings.ToLower(kind)}, name)
}

// nodeName returns spec.nodeName.
func nodeName(obj object.View) string { return obj.String("spec", "nodeName") }

// checkClaim allows to change capacity and conditions of a PersistentVolumeClaim.
func checkClaim(a *admission.Attributes, node string) error {
	if a.Subresource != "status" {
		return errors.New("may only update PVC status")
	}
	if a.Operation != admission.Update {
		return fmt.Errorf("unexpected operation %q", a.Operation)
	}
	fields := []string{"capacity", "conditions"}
	if a.Access.Release().Enabled("RecoverVolumeExpansionFailure") {
		fields = append(fields, "allocatedResourceStatuses", "allocatedResources")
	}
	if !validation.Equal(withoutStatus(object.ViewOf(a.Object), fields), withoutStatus(a.Old, fields)) {
		// Differs from kube-apiserver: NodeRestriction of PersistentVolumeClaims:
		// kube-apiserver appends a diff of the objects, with the names of fields in Go.
		// Request: PUT of persistentvolumeclaims/status with a changed label as a kubelet.
		return fmt.Errorf("node %q is not allowed to update fields other than status.quantity and status.conditions: ", node)
	}
	return nil
}

// withoutStatus returns a copy of a claim without fields of its status, and without what
// the server writes in its metadata.
func withoutStatus(claim object.View, fields []string) map[string]any {
	out, meta, claimStatus := claim.ShallowCopy(), claim.At("metadata").ShallowCopy(), claim.At("status").ShallowCopy()
	delete(meta, "resourceVersion")
	delete(meta, "managedFields")
	for _, f := range fields {
		delete(claimStatus, f)
	}
	delete(out, "kind")
	delete(out, "apiVersion")
	out["metadata"], out["status"] = meta, claimStatus
	return out
}

const leaseNamespace = "kube-node-lease"

// checkLease allows to write the Lease of the node.
func checkLease(a *admission.Attributes, node string) error {
	switch {
	case a.Namespace != leaseNamespace:
		return fmt.Errorf("can only access leases in the %q system namespace", leaseNamespace)
	case a.Name != node:
		return errors.New("can only access node lease with the same name as the requesting node")
	}
	return nil
}

// checkCSINode allows to write the CSINode of the node, by its status only the status.
func checkCSINode(a *admission.Attributes, node string) error {
	switch {
	case a.Name != node:
		return errors.New("can only access CSINode with the same name as the requesting node")
	case a.Subresource == "status" && !validation.Equal(a.Object["spec"], a.Old.At("spec")):
		return fmt.Errorf("node %q is not allowed to modify CSINode spec via status", node)
	}
	return nil
}

// checkResourceSlice allows to create and delete the ResourceSlices of the node.
func checkResourceSlice(a *admission.Attributes, node string) error {
	switch {
	case a.Operation == admission.Create && nodeName(object.ViewOf(a.Object)) != node:
		return errors.New("can only create ResourceSlice with the same NodeName as the requesting node")
	case a.Operation == admission.Delete && nodeName(a.Old) != node:
		return errors.New("can only delete ResourceSlice with the same NodeName as the requesting node")
	}
	return nil
}

// checkSigningRequest allows to request kubelet certificates with the name of the node's
// user.
func checkSigningRequest(a *admission.Attributes, node string) error {
	signer := object.String(a.Object, "spec", "signerName")
	if a.Operation != admission.Create || a.Access.Release().Enabled("AllowInsecureKubeletCertificateSigningRequests") ||
		signer != "kubernetes.io/kubelet-serving" && signer != "kubernetes.io/kube-apiserver-client-kubelet" {
		return nil
	}
	request, err := certificates.ParseRequest(object.String(a.Object, "spec", "request"))
	if err != nil {
		return fmt.Errorf("unable to parse csr: %w", err)
	}
	if request.Subject.CommonName != a.User.Name {
		return fmt.Errorf("can only create a node CSR with CN=%s", a.User.Name)
	}
	return nil
}

package noderestriction

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkPod allows to create mirror pods of the node, to delete and evict the pods on it,
// and to change their statuses.
func checkPod(a *admission.Attributes, node string) error {
	switch {
	case a.Subresource == "status":
		return checkPodStatus(a, node)
	case a.Subresource == "eviction":
		return checkOnNode(a, node, "node %s can only evict pods with spec.nodeName set to itself")
	case a.Subresource != "":
		return fmt.Errorf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource)
	case a.Operation == admission.Create:
		return checkMirrorPod(a, node)
	case a.Operation == admission.Delete:
		return checkOnNode(a, node, "node %q can only delete pods with spec.nodeName set to itself")
	}
	return fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", a.Operation, node)
}

// checkOnNode fails for a pod that is not on the node.
func checkOnNode(a *admission.Attributes, node, refusal string) error {
	pod, err := get(a, "Pod", a.Namespace, a.Name)
	if err != nil {
		return err
	}
	if nodeName(pod) != node {
		return fmt.Errorf(refusal, node)
	}
	return nil
}

func checkPodStatus(a *admission.Attributes, node string) error {
	same := func(path ...string) bool {
		return validation.Equal(object.Value(a.Object, path...), a.Old.At(path...))
	}
	switch {
	case a.Operation != admission.Update:
		return fmt.Errorf("unexpected operation %q", a.Operation)
	case nodeName(a.Old) != node:
		return fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", node)
	case !validation.Equal(labels(object.ViewOf(a.Object)), labels(a.Old)):
		return fmt.Errorf("node %q cannot update labels through pod status", node)
	case !same("status", "resourceClaimStatuses"):
		return fmt.Errorf("node %q cannot update resource claim statues", node)
	case !same("status", "extendedResourceClaimStatus"):
		return fmt.Errorf("node %q cannot update extended resource claim status", node)
	case !same("status", "nodeAllocatableResourceClaimStatuses") && a.Access.Release().Has(behavior.RestrictsAllocatableClaims):
		return fmt.Errorf("node %q cannot update node allocatable resource claim statuses", node)
	}
	return nil
}

// labels returns the labels of an object, nil for none.
func labels(obj object.View) object.View {
	if m := obj.At("metadata", "labels"); m.Len() > 0 {
		return m
	}
	return object.View{}
}

// checkMirrorPod allows to create a mirror pod of the node that the Node owns and that
// refers to no other objects.
func checkMirrorPod(a *admission.Attributes, node string) error {
	owners := object.List(a.Object, "metadata", "ownerReferences")
	switch {
	case !pods.IsMirror(object.ViewOf(a.Object)):
		return fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods", pods.MirrorAnnotation, node)
	case nodeName(object.ViewOf(a.Object)) != node:
		return fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", node)
	case len(owners) > 1:
		return fmt.Errorf("node %q can only create pods with a single owner reference set to itself", node)
	case len(owners) == 0:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", node)
	}
	owner, _ := owners[0].(map[string]any)
	switch {
	case owner["apiVersion"] != "v1" || owner["kind"] != "Node" || owner["name"] != node:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", node)
	case !object.Bool(owner, "controller"):
		return fmt.Errorf("node %q can only create pods with a controller owner reference set to itself", node)
	case object.Bool(owner, "blockOwnerDeletion"):
		return fmt.Errorf("node %q must not set blockOwnerDeletion on an owner reference", node)
	}
	stored, err := get(a, "Node", "", node)
	if err != nil {
		return err
	}
	if uid := stored.String("metadata", "uid"); object.String(owner, "uid") != uid {
		return fmt.Errorf("node %s UID mismatch: expected %s got %s", node, object.String(owner, "uid"), uid)
	}
	find := referenced
	if !a.Access.Release().Has(behavior.MirrorPodReferences) {
		find = referencedByLists
	}
	what, err := find(a.Object)
	if err != nil {
		return fmt.Errorf("error checking mirror pod for API references: %w", err)
	}
	if what != "" {
		return fmt.Errorf("node %q can not create pods that reference %s", node, what)
	}
	return nil
}

// A volumeKind is a source of volumes, and what a kubelet reads for it from the API; ""
// for nothing.
type volumeKind struct{ source, needs string }

var volumeKinds = []volumeKind{
	{"configMap", "configmaps (via configmap volumes)"},
	{"secret", "secrets (via secret volumes)"},
	{"csi", "csidrivers (via CSI volumes)"},
	{"glusterfs", "endpoints (via glusterFS volumes)"},
	{"persistentVolumeClaim", "persistentvolumeclaims"},
	{"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
	{"azureFile", "secrets (via azureFile volumes)"},
	{"awsElasticBlockStore", ""}, {"azureDisk", ""}, {"cephfs", ""}, {"cinder", ""}, {"downwardAPI", ""}, {"emptyDir", ""},
	{"fc", ""}, {"flexVolume", ""}, {"flocker", ""}, {"gcePersistentDisk", ""}, {"gitRepo", ""}, {"hostPath", ""}, {"image", ""},
	{"iscsi", ""}, {"nfs", ""}, {"photonPersistentDisk", ""}, {"portworxVolume", ""}, {"quobyte", ""}, {"rbd", ""}, {"scaleIO", ""},
	{"storageos", ""}, {"vsphereVolume", ""},
}

var projectionKinds = []volumeKind{
	{"configMap", "configmaps (via projected volumes)"},
	{"secret", "secrets (via projected volumes)"},
	{"serviceAccountToken", "serviceaccounts (via projected volumes)"},
	{"clusterTrustBundle", "clustertrustbundles"},
	{"podCertificate", "podcertificates"},
	{"downwardAPI", ""},
}

// kindOf returns the kind of a volume or projection.
func kindOf(source map[string]any, kinds []volumeKind) (volumeKind, bool) {
	for _, k := range kinds {
		if source[k.source] != nil {
			return k, true
		}
	}
	return volumeKind{}, false
}

// referencedByName returns what a pod refers to by names that have no object of their own
// in the pod's spec.
func referencedByName(pod map[string]any, accounts string) string {
	switch {
	case object.String(pod, "spec", "serviceAccountName") != "":
		return accounts
	case len(pods.SecretNames(pod)) > 0:
		return "secrets"
	case len(pods.ConfigMapNames(pod)) > 0:
		return "configmaps"
	}
	return ""
}

// referenced returns objects that a pod refers to, as an error names them; "" if there are
// none.
func referenced(pod map[string]any) (what string, err error) {
	if what := referencedByName(pod, "serviceaccounts"); what != "" {
		return what, nil
	}
	if len(object.List(pod, "spec", "resourceClaims")) > 0 {
		return "resourceclaims", nil
	}
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		if v["projected"] == nil {
			k, ok := kindOf(v, volumeKinds)
			if !ok {
				return "", fmt.Errorf("unknown volume type for volume  %q", object.String(v, "name"))
			}
			if k.needs != "" {
				return k.needs, nil
			}
		}
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			k, ok := kindOf(source, projectionKinds)
			if !ok {
				return "", fmt.Errorf("unknown source for projected volume %q", object.String(v, "name"))
			}
			if k.needs != "" {
				return k.needs, nil
			}
		}
	}
	return "", nil
}

// referencedByLists is referenced in releases that do not know all references.
func referencedByLists(pod map[string]any) (what string, err error) {
	if what := referencedByName(pod, "a service account"); what != "" {
		return what, nil
	}
	claims := false
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		claims = claims || v["persistentVolumeClaim"] != nil
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			if source["clusterTrustBundle"] != nil {
				return "clustertrustbundles", nil
			}
		}
	}
	switch {
	case claims:
		return "persistentvolumeclaims", nil
	case len(object.List(pod, "spec", "resourceClaims")) > 0:
		return "resourceclaims", nil
	}
	return "", nil
}

// checkPodCertificateRequest allows to request certificates for the pods on the node.
func checkPodCertificateRequest(a *admission.Attributes, node string) error {
	switch {
	case !a.Access.Release().Enabled("PodCertificateRequest"):
		return errors.New("PodCertificateRequest feature gate is disabled")
	case a.Operation != admission.Create:
		return fmt.Errorf("unexpected operation %v", a.Operation)
	case a.Subresource != "":
		return fmt.Errorf("unexpected subresource %v", a.Subresource)
	}
	return checkCertificateFor(a, node, object.Map(a.Object, "spec"))
}

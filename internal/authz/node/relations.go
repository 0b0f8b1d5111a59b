package node

import (
	"encoding/json"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// nodeField is the selectable field of the objects that name their node.
const nodeField = "spec.nodeName"

var (
	podResource     = status.GroupResource{Resource: "pods"}
	secretResource  = status.GroupResource{Resource: "secrets"}
	claimResource   = status.GroupResource{Resource: "persistentvolumeclaims"}
	volumeResource  = status.GroupResource{Resource: "persistentvolumes"}
	accountResource = status.GroupResource{Resource: "serviceaccounts"}
)

// A reference is an object that another one refers to.
type reference struct {
	status.GroupResource
	namespace, name string
}

// reaches reports whether references lead from an object to the node:
//
//	node <- pod <- secret, configmap, serviceaccount, resourceclaim, pvc
//	               pvc <- pv <- secret
//	node <- volumeattachment, resourceslice, podcertificaterequest
func (r *request) reaches(of status.GroupResource, namespace, name string) bool {
	target := reference{of, namespace, name}
	switch of {
	case volumeResource:
		return r.reachesVolume(r.object(volumeResource, "", name))
	case podResource:
		pod := r.object(of, namespace, name)
		return pod != nil && nodeOf(r.stored(of), pod) == r.node
	case secretResource:
		return r.podRefersTo(target) || r.volumeRefersTo(target)
	case status.GroupResource{Resource: "configmaps"}, claimResource, accountResource, status.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}:
		return r.podRefersTo(target)
	}
	o := r.object(of, namespace, name)
	if o == nil {
		return false
	}
	named, err := storage.Parse(o, parseNodeName)
	return err == nil && named == r.node
}

// object returns a stored object, nil if it does not exist.
func (r *request) object(of status.GroupResource, namespace, name string) *storage.Object {
	t := r.stored(of)
	if t == nil {
		return nil
	}
	return r.Store.Newest(t.Key(namespace, name))
}

// stored returns the type of a resource, nil if there is none.
func (m *Mode) stored(of status.GroupResource) *resource.Type { return m.Types.Find(of.String()) }

// nodeOf returns the node that a pod is bound to, "" if it is not.
func nodeOf(t *resource.Type, pod *storage.Object) string {
	i := slices.IndexFunc(t.SelectableFields, func(f resource.Field) bool { return f.Label == nodeField })
	return pod.Fields.At(i)
}

// podRefersTo reports whether a pod on the node refers to an object.
func (r *request) podRefersTo(target reference) bool {
	t := r.stored(podResource)
	for pod := range r.Store.All(t.KeyPrefix(target.namespace)) {
		if nodeOf(t, pod) != r.node {
			continue
		}
		if refs, err := storage.Parse(pod, parsePod); err == nil && slices.Contains(refs, target) {
			return true
		}
	}
	return false
}

// volumeRefersTo reports whether a PersistentVolume that a pod on the node uses refers to
// an object.
func (r *request) volumeRefersTo(target reference) bool {
	for pv := range r.Store.All(r.stored(volumeResource).Prefix) {
		refs, err := storage.Parse(pv, parseVolume)
		if err == nil && slices.Contains(refs.secrets, target) && r.podRefersTo(refs.claim) {
			return true
		}
	}
	return false
}

// reachesVolume reports whether a pod on the node uses a PersistentVolume.
func (r *request) reachesVolume(pv *storage.Object) bool {
	if pv == nil {
		return false
	}
	refs, err := storage.Parse(pv, parseVolume)
	return err == nil && refs.claim != (reference{}) && r.podRefersTo(refs.claim)
}

// parsePod returns the objects that a pod refers to. Those of a mirror pod, which a kubelet
// creates, do not count.
func parsePod(body []byte) (all []reference, err error) {
	var pod map[string]any
	if err := json.Unmarshal(body, &pod); err != nil || pods.IsMirror(object.ViewOf(pod)) {
		return nil, err
	}
	namespace, name := object.String(pod, "metadata", "namespace"), object.String(pod, "metadata", "name")
	add := func(of status.GroupResource, names ...string) {
		for _, name := range names {
			if name != "" {
				all = append(all, reference{of, namespace, name})
			}
		}
	}
	add(accountResource, object.String(pod, "spec", "serviceAccountName"))
	add(secretResource, pods.SecretNames(pod)...)
	add(status.GroupResource{Resource: "configmaps"}, pods.ConfigMapNames(pod)...)
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		add(claimResource, pods.VolumeClaimName(name, object.ViewOf(v)))
	}
	claims := status.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	for entry := range object.Each(object.Value(pod, "spec", "resourceClaims")) {
		claim, _ := pods.ResourceClaimName(object.ViewOf(pod), object.ViewOf(entry))
		add(claims, claim)
	}
	add(claims, object.String(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"))
	return all, nil
}

// volumeReferences are what a PersistentVolume refers to.
type volumeReferences struct {
	claim   reference // zero for none
	secrets []reference
}

// parseVolume returns what a PersistentVolume refers to, nothing if it has no claim.
func parseVolume(body []byte) (out volumeReferences, err error) {
	var pv map[string]any
	if err := json.Unmarshal(body, &pv); err != nil {
		return out, err
	}
	claim := object.Map(pv, "spec", "claimRef")
	if claim == nil {
		return out, nil
	}
	out.claim = reference{claimResource, object.String(claim, "namespace"), object.String(claim, "name")}
	for _, ref := range volumes.KubeletSecrets(pv) {
		out.secrets = append(out.secrets, reference{secretResource, ref.Namespace, ref.Name})
	}
	return out, nil
}

// parseNodeName returns spec.nodeName.
func parseNodeName(body []byte) (string, error) {
	var obj struct{ Spec struct{ NodeName string } }
	err := json.Unmarshal(body, &obj)
	return obj.Spec.NodeName, err
}

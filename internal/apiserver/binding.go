package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/admission/plugin/podtopologylabels"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// Bindings and Evictions are orders to the server: a POST carries one out and
// answers a Status; none is stored.

var (
	podResource     = status.GroupResource{Resource: "pods"}
	bindingResource = status.GroupResource{Resource: "pods/binding"}
)

// isOrder reports whether the body is of the kind of the subresource: no part
// of an object is written, something is done to it.
func (r *request) isOrder() bool { return r.sub != nil && r.Verb == "create" }

// readOrder reads the body of a POST that is carried out, and checks that
// the namespace takes it.
func (r *request) readOrder() (map[string]any, *writeOptions, error) {
	obj, o, err := r.readPosted()
	if err != nil {
		return nil, nil, err
	}
	meta := object.Meta(obj)
	if err := checkNamespace(meta, r.Namespace); err != nil {
		return nil, nil, err
	}
	name := r.Name
	if name == "" {
		name = object.String(meta, "name")
	}
	if err := r.admitNamespace(name, true); err != nil {
		return nil, nil, err
	}
	return obj, o, r.mutate(obj, nil, o)
}

// checkOrderName refuses an order for another object than the path's.
func (r *request) checkOrderName(obj map[string]any) error {
	if object.String(obj, "metadata", "name") != r.Name {
		return status.BadRequest(fmt.Sprintf("name in URL does not match name in %s object", object.String(obj, "kind")))
	}
	return nil
}

// done answers that an order was carried out.
func (r *request) done() error {
	st := status.Success(nil)
	st.Code = http.StatusCreated
	return r.answerStatus(st.Code, st)
}

// bind puts a pod on a node, at pods/binding or at the collection of bindings.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/binding-v1/.
func (r *request) bind() error {
	binding, o, err := r.readOrder()
	if err != nil {
		return err
	}
	if r.sub != nil {
		if err := r.checkOrderName(binding); err != nil {
			return err
		}
	} else {
		clearSystemFields(object.Meta(binding)) // the collection has no precondition on the uid
	}
	if errs := validateBinding(binding); len(errs) > 0 {
		return status.Unclassified(errs.Message())
	}
	if err := r.validate(binding, nil, o); err != nil {
		return err
	}
	pods := r.registry.Lookup("", "v1", "pods")
	for {
		err := r.bindOnce(pods, binding, o)
		if err == nil {
			return r.done()
		}
		if !errors.Is(err, errLost) {
			return err
		}
	}
}

func validateBinding(binding map[string]any) (errs validation.List) {
	path := validation.NewPath("target")
	if kind := object.String(binding, "target", "kind"); kind != "" && kind != "Node" {
		errs = append(errs, validation.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if object.String(binding, "target", "name") == "" {
		errs = append(errs, validation.Required(path.Child("name"), ""))
	}
	return errs
}

// bindOnce fails with errLost if the pod changes meanwhile.
func (r *request) bindOnce(pods *resource.Type, binding map[string]any, o *writeOptions) error {
	meta := object.Meta(binding)
	name := object.String(meta, "name")
	if err := checkStorable(name); err != nil {
		return err
	}
	key := pods.Key(r.Namespace, name)
	old := r.server.store.Newest(key)
	if old == nil {
		return status.NotFound(podResource, name)
	}
	for _, precondition := range []struct{ what, want, is string }{
		{"UID", object.String(meta, "uid"), old.UID},
		{"ResourceVersion", object.String(meta, "resourceVersion"), storage.FormatVersion(old.Revision)},
	} {
		if precondition.want != "" && precondition.want != precondition.is {
			return preconditionFailed(podResource, name, pods.EtcdKey(r.Namespace, name, o.dryRun()), precondition.what, precondition.want, precondition.is)
		}
	}
	pod := old.Decode(pods)
	switch node := object.String(pod, "spec", "nodeName"); {
	case old.Terminating:
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", name))
	case node != "":
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s is already assigned to node %q", name, node))
	case len(object.List(pod, "spec", "schedulingGates")) > 0:
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", name))
	}
	object.Set(pod, object.String(binding, "target", "name"), "spec", "nodeName")
	if st := object.Map(pod, "status"); st != nil {
		delete(st, "nominatedNodeName")
	}
	for _, member := range []string{"annotations", "labels"} {
		for k, v := range object.Map(meta, member) {
			object.Set(pod, v, "metadata", member, k)
		}
	}
	podtopologylabels.SetLabels(reader{r}, pod, object.String(binding, "target", "name"))
	setCondition(pod, map[string]any{"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": r.now()})
	_, err := r.replaceIn(pods, old, storage.New(pods, pod), o.dryRun())
	return err
}

// preconditionFailed says that a write was meant for another state of the
// object, as kube-apiserver's storage words it.
func preconditionFailed(gr status.GroupResource, name, key, what, want, is string) error {
	return status.Conflict(gr, name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s in precondition: %s, %s in object meta: %s",
		key, what, want, what, is))
}

// setCondition writes a condition in the place of the one of its type, whose
// time it keeps while the status stays.
func setCondition(obj, condition map[string]any) {
	conditions := object.List(obj, "status", "conditions")
	for i := range conditions {
		c, _ := conditions[i].(map[string]any)
		if c["type"] != condition["type"] {
			continue
		}
		if c["status"] == condition["status"] {
			condition["lastTransitionTime"] = c["lastTransitionTime"]
		}
		conditions[i] = condition
		return
	}
	object.Set(obj, append(conditions, condition), "status", "conditions")
}

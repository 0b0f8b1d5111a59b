package registry

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtopologylabels"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// An action is a POST that the server carries out without storing its body: a
// Binding, an Eviction, a TokenRequest, a review.
type action func(op *operation) (Result, error)

// action returns the action that the request is for, nil for a request that
// stores its body.
func (op *operation) action() action {
	switch {
	case op.sub != nil && op.Type.Group == "":
		switch op.Type.Name + "/" + op.Subresource {
		case "pods/binding":
			return (*operation).bind
		case "pods/eviction":
			return (*operation).evict
		case "serviceaccounts/token":
			return (*operation).createToken
		}
		return nil
	case op.sub != nil:
		return nil
	case op.Type.Group == "" && op.Type.Name == "bindings":
		return (*operation).bind
	case reviews[op.groupResource()] != nil:
		return (*operation).review
	}
	return nil
}

var (
	podResource     = status.GroupResource{Resource: "pods"}
	bindingResource = status.GroupResource{Resource: "pods/binding"}
)

// readAction decodes the body of an action in a namespace, sets its managed fields, and
// has it mutated by admission.
func (op *operation) readAction() (*candidate, error) {
	c, err := op.decode(nil)
	if err != nil {
		return nil, err
	}
	if err := setNamespace(c.meta(), op.Namespace); err != nil {
		return nil, err
	}
	if err := op.admitNamespace(admission.DisplayName(op.Name, c.object)); err != nil {
		return nil, err
	}
	c.object = op.fieldManagers().Update(object.View{}, c.object, op.fieldOptions())
	return c, op.mutate(c, object.View{})
}

// checkActionName fails for the body of an action that names another object than
// the request.
func (op *operation) checkActionName(obj map[string]any) error {
	if object.String(obj, "metadata", "name") != op.Name {
		return status.BadRequest(fmt.Sprintf("name in URL does not match name in %s object", object.String(obj, "kind")))
	}
	return nil
}

// bind assigns a pod to a node: at pods/binding, or at the collection of bindings.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/binding-v1/.
func (op *operation) bind() (Result, error) {
	c, err := op.readAction()
	if err != nil {
		return Result{}, err
	}
	binding := c.object
	if op.sub != nil {
		if err := op.checkActionName(binding); err != nil {
			return Result{}, err
		}
	} else {
		clearSystemFields(object.Meta(binding)) // the collection has no precondition on the uid
	}
	if errs := validateBinding(binding).In(op.api().Release, "", "Binding"); len(errs) > 0 {
		return Result{}, status.Unclassified(errs.Message())
	}
	if err := op.validate(c, binding, object.View{}); err != nil {
		return Result{}, err
	}
	pods := op.Surface.Lookup("", "v1", "pods")
	for {
		err := op.bindOnce(pods, binding)
		if !errors.Is(err, ErrConflict) {
			return op.result(nil, err)
		}
	}
}

func validateBinding(binding map[string]any) (errs validation.List) {
	path := validation.NewPath("target")
	if kind := object.String(binding, "target", "kind"); kind != "" && kind != "Node" {
		errs = append(errs, validation.NotSupported(path.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	switch kind, name := object.String(binding, "target", "kind"), object.String(binding, "target", "name"); {
	case name == "":
		errs = append(errs, validation.Required(path.Child("name"), ""))
	case kind == "" || kind == "Node":
		errs = append(errs, validation.Each(path.Child("name"), name, validation.SubdomainName(name, false)).Since(behavior.ValidatesBindingTargets)...)
	}
	return errs
}

// bindOnce fails with ErrConflict if the pod changes between read and commit.
func (op *operation) bindOnce(pods *resource.Type, binding map[string]any) error {
	meta := object.Meta(binding)
	name := object.String(meta, "name")
	if err := resource.CheckName(name); err != nil {
		return err
	}
	key := pods.Key(op.Namespace, name)
	old := op.store.Newest(key)
	if old == nil {
		return status.NotFound(podResource, name)
	}
	for _, precondition := range []struct{ what, want, is string }{
		{"UID", object.String(meta, "uid"), old.UID},
		{"ResourceVersion", object.String(meta, "resourceVersion"), storage.FormatVersion(old.Revision)},
	} {
		if precondition.want != "" && precondition.want != precondition.is {
			return preconditionFailed(podResource, name, pods.EtcdKey(op.Namespace, name, op.dryRun()), precondition.what, precondition.want, precondition.is)
		}
	}
	current := old.Decoded(pods)
	pod := current.View()
	switch node := pod.String("spec", "nodeName"); {
	case old.Terminating:
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", name))
	case node != "":
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s is already assigned to node %q", name, node))
	case pod.At("spec", "schedulingGates").Len() > 0:
		return status.Conflict(bindingResource, name, fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", name))
	}
	edit, node := current.Object().Edit(), object.String(binding, "target", "name")
	edit.Set(node, "spec", "nodeName")
	if op.api().Release.Enabled("ClearingNominatedNodeNameAfterBinding") {
		edit.Delete("status", "nominatedNodeName")
	}
	copied := []string{"annotations"}
	if op.api().Release.Enabled("PodTopologyLabelsAdmission") {
		copied = append(copied, "labels")
	}
	for _, member := range copied {
		for k, v := range object.Map(meta, member) {
			edit.Set(v, "metadata", member, k)
		}
	}
	if op.api().Release.Enabled("PodTopologyLabelsAdmission") {
		for label, v := range podtopologylabels.Labels(reader{op}, node) {
			edit.Set(v, "metadata", "labels", label)
		}
	}
	object.SetCondition(edit, map[string]any{"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": op.now()})
	_, err := op.replaceObject(pods, old, edit.Map(), current, op.dryRun())
	return err
}

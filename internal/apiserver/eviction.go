package apiserver

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxDisruptedPods is how many evictions a budget takes that its controller has
// not noticed yet.
const maxDisruptedPods = 2000

const budgetViolated = "Cannot evict pod as it would violate the pod's disruption budget."

var budgetResource = status.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}

// evict deletes a pod if the PodDisruptionBudgets allow it.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/.
func (r *request) evict() error {
	eviction, w, err := r.readOrder()
	if err != nil {
		return err
	}
	if err := r.checkOrderName(eviction); err != nil {
		return err
	}
	if err := r.validate(eviction, nil, w); err != nil {
		return err
	}
	options := object.Map(eviction, "deleteOptions")
	if object.Bool(options, "ignoreStoreReadErrorWithClusterBreakingPotential") {
		return status.Invalid(status.GroupKind{Group: r.sub.Kind.Group, Kind: r.sub.Kind.Kind}, r.Name, validation.List{
			validation.Invalid(validation.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"), true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	o := &deleteOptions{admitted: true}
	o.fromBody(options)
	switch {
	case len(o.DryRun) == 0:
		o.DryRun = w.DryRun
	case len(w.DryRun) > 0 && !slices.Equal(o.DryRun, w.DryRun):
		return status.Unclassified(fmt.Sprintf("Non-matching dry-run options in request and content: %v and %v", w.DryRun, o.DryRun))
	}
	if err := checkStorable(r.Name); err != nil {
		return err
	}
	for {
		err := r.evictOnce(o)
		if err == nil {
			return r.done()
		}
		if !errors.Is(err, errLost) {
			return err
		}
	}
}

// evictOnce fails with errLost if the pod or its budget changes meanwhile; it
// can be called again.
func (r *request) evictOnce(o *deleteOptions) error {
	old := r.server.store.Newest(r.key())
	if old == nil {
		return status.NotFound(podResource, r.Name)
	}
	pod := old.Decode(r.typ)
	ended := old.Terminating
	switch object.String(pod, "status", "phase") {
	case "Succeeded", "Failed":
		ended = true
	case "Pending":
		// It must not start to run unnoticed: then a budget would count.
		return r.evictPod(o, old, !ended && o.version == nil)
	}
	if ended {
		return r.evictPod(o, nil, false)
	}
	budget, err := r.budgetOf(old)
	if err != nil {
		return err
	}
	if budget == nil {
		return r.evictPod(o, nil, false)
	}
	if object.Condition(pod, "Ready", "True") == nil && sparesUnready(budget.object) {
		free := *o
		free.version = nil // kube-apiserver overwrites the client's precondition too
		err := r.evictPod(&free, old, true)
		if o.version == nil && (errors.Is(err, errLost) || isConflict(err)) {
			return budgetPending(budget.stored.Name)
		}
		return err
	}
	if err := r.charge(budget, o); err != nil {
		return err
	}
	return r.evictPod(o, nil, false)
}

// evictPod tells the pod why it goes and deletes it. If exact is set it fails
// with errLost unless the pod is still as seen.
func (r *request) evictPod(o *deleteOptions, seen *storage.Object, exact bool) error {
	opts := *o
	for len(o.DryRun) == 0 {
		old := r.server.store.Newest(r.key())
		if old == nil {
			return status.NotFound(podResource, r.Name)
		}
		if exact && old != seen {
			return errLost
		}
		if err := r.checkPreconditions(old, o); err != nil {
			return err
		}
		pod := old.Decode(r.typ)
		setCondition(pod, map[string]any{
			"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
			"lastProbeTime": nil, "lastTransitionTime": r.now(),
		})
		stored, err := r.replace(old, storage.New(r.typ, pod), false)
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			return err
		}
		if exact || o.version != nil {
			version := storage.FormatVersion(stored.Revision)
			opts.version = &version
		}
		break
	}
	if errs := opts.Validate(); len(errs) > 0 {
		return invalidOptions("DeleteOptions", errs)
	}
	_, _, err := r.deleteObject(r.key(), &opts)
	if exact && len(o.DryRun) == 0 && isConflict(err) {
		return errLost
	}
	return err
}

func isConflict(err error) bool {
	var st *status.Status
	return errors.As(err, &st) && st.Reason == status.ReasonConflict
}

// budgetOf is the budget that selects the pod, nil if none does. More than one
// is an error.
func (r *request) budgetOf(pod *storage.Object) (*version, error) {
	budgets := r.budgets()
	page, err := r.server.store.List(r.ctx(), budgets, storage.Query{Selection: storage.Selection{Namespace: r.Namespace}})
	if err != nil {
		return nil, err
	}
	var found *version
	for o := range page.Items {
		budget := o.Decode(budgets)
		if !selects(object.Map(budget, "spec", "selector"), pod.Labels) {
			continue
		}
		if found != nil {
			return nil, status.Unclassified("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
		}
		found = &version{o, budget}
	}
	return found, nil
}

// budgets is the type of PodDisruptionBudgets, which every profile has.
func (r *request) budgets() *resource.Type {
	return r.registry.Lookup("policy", "v1", "poddisruptionbudgets")
}

// selects reports whether a label selector, as objects have it, matches labels.
// One that is missing or invalid matches none.
func selects(spec map[string]any, labels map[string]string) bool {
	s, err := selector.FromMap(spec).Selector()
	return err == nil && s.Matches(selector.Map(labels))
}

// sparesUnready reports whether a budget lets pods go that are not ready, which
// it does not count as healthy.
func sparesUnready(budget map[string]any) bool {
	if object.String(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	current, _ := object.Int(budget, "status", "currentHealthy")
	desired, _ := object.Int(budget, "status", "desiredHealthy")
	return current >= desired && desired > 0
}

// charge takes an eviction from what the budget allows, and has it remember the
// pod. It fails with errLost if the budget has changed.
func (r *request) charge(budget *version, o *deleteOptions) error {
	name := budget.stored.Name
	generation, _ := object.Int(budget.object, "metadata", "generation")
	observed, _ := object.Int(budget.object, "status", "observedGeneration")
	allowed, _ := object.Int(budget.object, "status", "disruptionsAllowed")
	switch {
	case observed < generation:
		return budgetPending(name)
	case allowed < 0:
		return status.Forbidden(budgetResource, name, "pdb disruptions allowed is negative")
	case len(object.Map(budget.object, "status", "disruptedPods")) > maxDisruptedPods:
		return status.Forbidden(budgetResource, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case allowed == 0:
		return status.TooManyRequests(budgetViolated, 0, disruptionCause(whyNotAllowed(name, budget.object)))
	case len(o.DryRun) > 0:
		return nil
	}
	obj := object.Copy(budget.object)
	object.Set(obj, allowed-1, "status", "disruptionsAllowed")
	object.Set(obj, r.now(), "status", "disruptedPods", r.Name)
	if allowed == 1 {
		setInsufficientPods(obj, observed, r.now())
	}
	t := r.budgets()
	owners := r.surface.ownershipOf(t)
	// kube-apiserver asks itself for this, as a client of its own name.
	obj = owners.objects.Update(budget.object, obj, fieldmanager.Options{
		Manager: "kube-apiserver", Subresource: "status", Now: r.server.clock.Now(), Fields: owners.status,
	})
	_, err := r.replaceIn(t, budget.stored, storage.New(t, obj), false)
	return err
}

// setInsufficientPods writes the condition that no disruption is allowed.
func setInsufficientPods(budget map[string]any, observed int64, now string) {
	condition := map[string]any{
		"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "", "lastTransitionTime": now,
	}
	if observed != 0 {
		condition["observedGeneration"] = observed
	}
	setCondition(budget, condition)
}

// whyNotAllowed words why a budget allows no disruption.
func whyNotAllowed(name string, budget map[string]any) string {
	desired, _ := object.Int(budget, "status", "desiredHealthy")
	current, _ := object.Int(budget, "status", "currentHealthy")
	condition := object.Condition(budget, "DisruptionAllowed", "False")
	reason, message := object.String(condition, "reason"), object.String(condition, "message")
	switch {
	case message != "" && reason == "SyncFailed":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, message)
	case current <= desired:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", name, desired, current)
	case message != "":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", name, reason, message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", name)
}

// budgetPending says that the budget's controller has not seen its newest form.
func budgetPending(name string) error {
	const retryAfterSeconds = 10
	return status.TooManyRequests(budgetViolated, retryAfterSeconds, disruptionCause(
		fmt.Sprintf("The disruption budget %s is still being processed by the server.", name)))
}

func disruptionCause(message string) status.Cause {
	return status.Cause{Reason: status.CauseDisruptionBudget, Message: message}
}

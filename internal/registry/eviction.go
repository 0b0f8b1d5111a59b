package registry

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxDisruptedPods is the number of evictions that a budget takes before its
// controller has confirmed them.
const maxDisruptedPods = 2000

const budgetViolated = "Cannot evict pod as it would violate the pod's disruption budget."

var budgetResource = status.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}

// evict deletes a pod if the PodDisruptionBudgets allow it.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/.
func (op *operation) evict() (Result, error) {
	c, err := op.readAction()
	if err != nil {
		return Result{}, err
	}
	eviction := c.object
	if err := op.checkActionName(eviction); err != nil {
		return Result{}, err
	}
	if err := op.validate(c, eviction, object.View{}); err != nil {
		return Result{}, err
	}
	options := object.Map(eviction, "deleteOptions")
	if object.Bool(options, "ignoreStoreReadErrorWithClusterBreakingPotential") {
		return Result{}, status.Invalid(status.GroupKind{Group: op.sub.Kind.Group, Kind: op.sub.Kind.Kind}, op.Name, validation.List{
			validation.Invalid(validation.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"), true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	o := ParseDeleteOptions(options)
	o.admitted = true
	switch dryRun := op.options.DryRun; {
	case len(o.DryRun) == 0:
		o.DryRun = dryRun
	case len(dryRun) > 0 && !slices.Equal(o.DryRun, dryRun):
		return Result{}, status.Unclassified(fmt.Sprintf("Non-matching dry-run options in request and content: %v and %v", dryRun, o.DryRun))
	}
	if err := resource.CheckName(op.Name); err != nil {
		return Result{}, err
	}
	for {
		err := op.evictOnce(o)
		if !errors.Is(err, ErrConflict) {
			return op.result(nil, err)
		}
	}
}

// evictOnce fails with ErrConflict if the pod or its budget changes between read
// and commit.
func (op *operation) evictOnce(o *DeleteOptions) error {
	old := op.store.Newest(op.key())
	if old == nil {
		return status.NotFound(podResource, op.Name)
	}
	pod := op.decoded(old).View()
	ended := old.Terminating
	switch pod.String("status", "phase") {
	case "Succeeded", "Failed":
		ended = true
	case "Pending":
		// A pod that starts to run in between counts in a budget.
		return op.evictPod(o, old, !ended && o.Version == nil)
	}
	if ended {
		return op.evictPod(o, nil, false)
	}
	budget, err := op.budgetOf(old)
	if err != nil {
		return err
	}
	if budget == nil {
		return op.evictPod(o, nil, false)
	}
	if pod.Condition("Ready", "True").IsNil() && allowsUnready(budget.View()) {
		free := *o
		free.Version = nil // kube-apiserver overwrites the client's precondition too
		err := op.evictPod(&free, old, true)
		if o.Version == nil && (errors.Is(err, ErrConflict) || isConflict(err)) {
			return budgetPending(budget.Stored.Name)
		}
		return err
	}
	if err := op.charge(budget, o); err != nil {
		return err
	}
	return op.evictPod(o, nil, false)
}

// evictPod sets the DisruptionTarget condition of the pod and deletes it. If exact
// is set it fails with ErrConflict unless the pod is still as seen.
func (op *operation) evictPod(o *DeleteOptions, seen *storage.Object, exact bool) error {
	opts := *o
	for len(o.DryRun) == 0 {
		old := op.store.Newest(op.key())
		if old == nil {
			return status.NotFound(podResource, op.Name)
		}
		if exact && old != seen {
			return ErrConflict
		}
		if err := op.checkPreconditions(old, o); err != nil {
			return err
		}
		current := op.decoded(old)
		edit := current.Object().Edit()
		object.SetCondition(edit, map[string]any{
			"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
			"lastProbeTime": nil, "lastTransitionTime": op.now(),
		})
		stored, err := op.replaceObject(op.Type, old, edit.Map(), current, false)
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		if exact || o.Version != nil {
			version := storage.FormatVersion(stored.Revision)
			opts.Version = &version
		}
		break
	}
	if errs := opts.Validate(); len(errs) > 0 {
		return status.InvalidOptions("DeleteOptions", errs)
	}
	_, _, err := op.deleteObject(op.key(), &opts)
	if exact && len(o.DryRun) == 0 && isConflict(err) {
		return ErrConflict
	}
	return err
}

func isConflict(err error) bool {
	var st *status.Status
	return errors.As(err, &st) && st.Reason == status.ReasonConflict
}

// budgetOf returns the budget that selects the pod, nil if none does. It fails if
// more than one does.
func (op *operation) budgetOf(pod *storage.Object) (*storage.Decoded, error) {
	budgets := op.budgets()
	page, err := op.store.List(op.ctx, budgets, storage.Query{Selection: storage.Selection{Namespace: op.Namespace}})
	if err != nil {
		return nil, err
	}
	var found *storage.Decoded
	for o := range page.Items {
		budget := o.Decoded(budgets)
		if !selects(budget.View().At("spec", "selector"), pod.Labels) {
			continue
		}
		if found != nil {
			return nil, status.Unclassified("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
		}
		found = budget
	}
	return found, nil
}

// budgets returns the type of PodDisruptionBudgets, which every release has.
func (op *operation) budgets() *resource.Type {
	return op.Surface.Lookup("policy", "v1", "poddisruptionbudgets")
}

// selects reports whether a label selector matches labels. One that is missing or invalid does not.
func selects(spec object.View, labels map[string]string) bool {
	s, err := selector.FromView(spec).Selector()
	return err == nil && s.Matches(selector.Map(labels))
}

// allowsUnready reports whether a budget lets pods be evicted that are not ready,
// which it does not count as healthy.
func allowsUnready(budget object.View) bool {
	if budget.String("spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	current, _ := budget.Int("status", "currentHealthy")
	desired, _ := budget.Int("status", "desiredHealthy")
	return current >= desired && desired > 0
}

// charge takes an eviction from the disruptions that the budget allows, and adds
// the pod to those it knows to be disrupted. It fails with ErrConflict if the
// budget has changed.
func (op *operation) charge(budget *storage.Decoded, o *DeleteOptions) error {
	name, current := budget.Stored.Name, budget.View()
	generation, _ := current.Int("metadata", "generation")
	observed, _ := current.Int("status", "observedGeneration")
	allowed, _ := current.Int("status", "disruptionsAllowed")
	switch {
	case observed < generation:
		return budgetPending(name)
	case allowed < 0:
		return op.unfitBudget(name, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
	case current.At("status", "disruptedPods").Len() > maxDisruptedPods:
		return op.unfitBudget(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller")
	case allowed == 0:
		return status.TooManyRequests(budgetViolated, 0, disruptionCause(op.whyNotAllowed(name, current)))
	case len(o.DryRun) > 0:
		return nil
	}
	edit := budget.Object().Edit()
	edit.Set(allowed-1, "status", "disruptionsAllowed")
	edit.Set(op.now(), "status", "disruptedPods", op.Name)
	if allowed == 1 {
		setInsufficientPods(edit, observed, op.now())
	}
	t := op.budgets()
	managers := op.Surface.ManagersOf(t)
	// kube-apiserver writes this as a client of its own name.
	obj := managers.Objects.Update(budget.View(), edit.Map(), fieldmanager.Options{
		Manager: ServerAgent, Subresource: "status", Now: op.clock.Now(), Fields: managers.Subresources["status"],
	})
	_, err := op.replaceObject(t, budget.Stored, obj, budget, false)
	return err
}

// unfitBudget is the answer to an eviction whose budget has a status that no controller writes. cause
// explains it to clients since v1.37.
func (op *operation) unfitBudget(name, why, cause string) error {
	st := status.Forbidden(budgetResource, name, why)
	if op.api().Release.Has(behavior.ExplainsUnfitBudgets) {
		st.Details.Causes = append(st.Details.Causes, disruptionCause(fmt.Sprintf("The disruption budget %s does not allow evicting pods currently: %s", name, cause)))
	}
	return st
}

// setInsufficientPods sets the condition that no disruption is allowed.
func setInsufficientPods(budget *object.Edit, observed int64, now string) {
	condition := map[string]any{
		"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "", "lastTransitionTime": now,
	}
	if observed != 0 {
		condition["observedGeneration"] = observed
	}
	object.SetCondition(budget, condition)
}

// whyNotAllowed returns why a budget allows no disruption. Before v1.35 it is always the
// number of healthy pods.
func (op *operation) whyNotAllowed(name string, budget object.View) string {
	desired, _ := budget.Int("status", "desiredHealthy")
	current, _ := budget.Int("status", "currentHealthy")
	condition := budget.Condition("DisruptionAllowed", "False")
	reason, message := condition.String("reason"), condition.String("message")
	switch {
	case reason == "SyncFailed" && message != "" && op.api().Release.Has(behavior.ExplainsRefusedEvictions):
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, message)
	case current <= desired || !op.api().Release.Has(behavior.ExplainsRefusedEvictions):
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", name, desired, current)
	case message != "":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", name, reason, message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", name)
}

// budgetPending is the error while the budget's controller has not handled its
// newest generation.
func budgetPending(name string) error {
	const retryAfterSeconds = 10
	return status.TooManyRequests(budgetViolated, retryAfterSeconds, disruptionCause(
		fmt.Sprintf("The disruption budget %s is still being processed by the server.", name)))
}

func disruptionCause(message string) status.Cause {
	return status.Cause{Reason: status.CauseDisruptionBudget, Message: message}
}

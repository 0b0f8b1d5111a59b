package namespace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// The types of the conditions of a namespace that is being deleted.
const (
	discoveryFailure    = "NamespaceDeletionDiscoveryFailure"
	groupVersionFailure = "NamespaceDeletionGroupVersionParsingFailure"
	contentFailure      = "NamespaceDeletionContentFailure"
	contentRemaining    = "NamespaceContentRemaining"
	finalizersRemaining = "NamespaceFinalizersRemaining"
)

// A condition is the reason and the message of a condition.
type condition struct{ reason, message string }

// order is the order in which conditions are added to a namespace.
var order = []string{discoveryFailure, groupVersionFailure, contentFailure, contentRemaining, finalizersRemaining}

// successes are the conditions with the status False.
var successes = map[string]condition{
	discoveryFailure:    {"ResourcesDiscovered", "All resources successfully discovered"},
	groupVersionFailure: {"ParsedGroupVersions", "All legacy kube types successfully parsed"},
	contentFailure:      {"ContentDeleted", "All content successfully deleted, may be waiting on finalization"},
	contentRemaining:    {"ContentRemoved", "All content successfully removed"},
	finalizersRemaining: {"ContentHasNoFinalizers", "All content-preserving finalizers finished"},
}

// conditions are the conditions with the status True, by type. The others are False.
type conditions map[string]condition

func (c conditions) fail(typ, reason, message string) { c[typ] = condition{reason, message} }

// contentFailed reports the errors of deletions.
func (c conditions) contentFailed(errs []error) {
	if len(errs) == 0 {
		return
	}
	messages := make([]string, len(errs))
	for i, err := range errs {
		messages[i] = err.Error()
	}
	slices.Sort(messages)
	c.fail(contentFailure, "ContentDeletionFailed",
		fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(errs), strings.Join(messages, ", ")))
}

// contentRemains reports what is left.
func (c conditions) contentRemains(left remains) {
	if len(left.resources) > 0 {
		c.fail(contentRemaining, "SomeResourcesRemain", "Some resources are remaining: "+counts(left.resources, "%s has %d resource instances"))
	}
	if len(left.finalizers) > 0 {
		c.fail(finalizersRemaining, "SomeFinalizersRemain",
			"Some content in the namespace has finalizers remaining: "+counts(left.finalizers, "%s in %d resource instances"))
	}
}

// counts returns the elements of m in a format, sorted.
func counts(m map[string]int, format string) string {
	parts := make([]string, 0, len(m))
	for name, n := range m {
		parts = append(parts, fmt.Sprintf(format, name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// write writes all conditions into a namespace, and reports whether one has changed.
func (c conditions) write(ns map[string]any, now time.Time) (changed bool) {
	list := object.List(ns, "status", "conditions")
	for _, typ := range order {
		is, value := c[typ], "True"
		if is == (condition{}) {
			is, value = successes[typ], "False"
		}
		old := controller.ConditionIn(object.Map(ns, "status"), typ)
		if old == nil {
			old = map[string]any{"type": typ}
			list = append(list, old)
		}
		if old["status"] == value && old["reason"] == is.reason && old["message"] == is.message {
			continue
		}
		if old["status"] != value {
			old["lastTransitionTime"] = clock.Timestamp(now)
		}
		old["status"], old["reason"], old["message"] = value, is.reason, is.message
		changed = true
	}
	object.Set(ns, list, "status", "conditions")
	return changed
}

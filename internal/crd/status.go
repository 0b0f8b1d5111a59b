package crd

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// The types of conditions.
const (
	namesAccepted = "NamesAccepted"
	established   = "Established"
	terminating   = "Terminating"
	apiApproved   = "KubernetesAPIApprovalPolicyConformant"
)

// cleanupFinalizer is the finalizer of definitions whose custom resources are not deleted yet.
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// A condition is an element of status.conditions.
type condition struct{ typ, status, reason, message string }

// set sets the condition of its type in the status of obj. It reports whether the status,
// reason or message changed.
func (c condition) set(obj map[string]any, now string) bool {
	status := object.Map(obj, "status")
	list := object.List(status, "conditions")
	for i, e := range list {
		old, _ := e.(map[string]any)
		if object.String(old, "type") != c.typ {
			continue
		}
		if old["status"] == c.status && object.String(old, "reason") == c.reason && object.String(old, "message") == c.message {
			return false
		}
		next := object.Copy(old)
		if old["status"] != c.status || object.String(old, "lastTransitionTime") == "" {
			next["lastTransitionTime"] = now
		}
		next["status"], next["reason"], next["message"] = c.status, c.reason, c.message
		list = slices.Clone(list)
		list[i] = next
		status["conditions"] = list
		return true
	}
	status["conditions"] = append(slices.Clone(list), map[string]any{
		"type": c.typ, "status": c.status, "reason": c.reason, "message": c.message, "lastTransitionTime": now,
	})
	return true
}

// Terminate updates a definition whose deletion begins: it sets the condition Terminating
// and adds the Finalizer.
func Terminate(obj map[string]any) {
	object.Own(obj, "status")
	condition{terminating, "True", "InstanceDeletionPending", "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}.set(obj, object.String(obj, "metadata", "deletionTimestamp"))
	finalizers := object.List(obj, "metadata", "finalizers")
	if !slices.Contains(finalizers, any(cleanupFinalizer)) {
		object.Meta(obj)["finalizers"] = append(slices.Clone(finalizers), cleanupFinalizer)
	}
}

// Reconcile makes the next change that the controllers of kube-apiserver make to the status
// of a definition: they check the API approval, accept the names unless another definition
// has them, set Established, and report the deletion of custom resources. used has the names
// of all definitions, now is the time in the format of metadata. Reconcile returns a changed copy of
// obj, or nil if there is nothing to change.
func Reconcile(obj object.View, used *Names, now string) map[string]any {
	next := obj.ShallowCopy()
	object.Own(next, "status")
	for _, step := range []func(map[string]any, *Names, string) bool{setApproval, acceptNames, setEstablished, setDeletionInProgress} {
		if step(next, used, now) {
			return next
		}
	}
	return nil
}

// setApproval sets the condition KubernetesAPIApprovalPolicyConformant of a definition in a
// protected group.
//
// See https://github.com/kubernetes/enhancements/pull/1111.
func setApproval(obj map[string]any, _ *Names, now string) bool {
	if !isProtectedGroup(object.String(obj, "spec", "group")) {
		return false
	}
	status, reason, message := approval(object.String(obj, "metadata", "annotations", approvedAnnotation))
	return condition{apiApproved, status, reason, message}.set(obj, now)
}

const approvedAnnotation = "api-approved.kubernetes.io"

// isProtectedGroup reports whether a group is reserved for the Kubernetes community.
func isProtectedGroup(group string) bool {
	return group == "k8s.io" || strings.HasSuffix(group, ".k8s.io") || group == "kubernetes.io" || strings.HasSuffix(group, ".kubernetes.io")
}

// approval returns the condition for the value of approvedAnnotation.
func approval(annotation string) (status, reason, message string) {
	const see = "see https://github.com/kubernetes/enhancements/pull/1111"
	u, err := url.ParseRequestURI(annotation)
	switch {
	case annotation == "":
		return "False", "MissingAnnotation", fmt.Sprintf("protected groups must have approval annotation %q, %s", approvedAnnotation, see)
	case strings.HasPrefix(annotation, "unapproved"):
		return "False", "UnapprovedAnnotation", fmt.Sprintf("not approved: %q", annotation)
	case err == nil && u.Host != "" && u.Scheme != "":
		return "True", "ApprovedAnnotation", "approved in " + annotation
	}
	return "False", "InvalidAnnotation", fmt.Sprintf("protected groups must have approval annotation %q with either a URL or a reason starting with \"unapproved\", %s", approvedAnnotation, see)
}

// HasRequestedNames reports whether a definition has all names that it requests. Other
// definitions do not matter to its status then.
func HasRequestedNames(obj object.View) bool {
	return obj.At("spec", "names").Equal(obj.At("status", "acceptedNames"))
}

// acceptNames accepts the names that no other definition of the group has.
func acceptNames(obj map[string]any, used *Names, now string) bool {
	view := object.ViewOf(obj)
	if HasRequestedNames(view) {
		return false
	}
	requested, accepted := view.At("spec", "names"), view.At("status", "acceptedNames")
	group := view.String("spec", "group")
	isResource := func(name string) bool { return used.hasResource(group, name) }
	isKind := func(name string) bool { return used.hasKind(group, name) }
	names := accepted.ShallowCopy()
	result := condition{namesAccepted, "True", "NoConflicts", "no conflicts found"}
	conflict := func(reason, message string) {
		result = condition{namesAccepted, "False", reason, message}
	}
	acceptName := func(name, reason string, used func(string) bool) {
		want := requested.String(name)
		if want != accepted.String(name) && used(want) {
			conflict(reason, inUse(want))
			return
		}
		object.Keep(names, requested, name)
	}
	acceptName("plural", "PluralConflict", isResource)
	acceptName("singular", "SingularConflict", isResource)
	if problems := shortNameConflicts(requested, accepted, isResource); len(problems) > 0 {
		conflict("ShortNamesConflict", aggregateErrors(problems))
	} else {
		object.Keep(names, requested, "shortNames")
	}
	acceptName("kind", "KindConflict", isKind)
	acceptName("listKind", "ListKindConflict", isKind)
	object.Keep(names, requested, "categories")

	status := object.Map(obj, "status")
	changed := !accepted.EqualTo(names)
	status["acceptedNames"] = names
	if !result.set(obj, now) && !changed {
		return false
	}
	switch {
	case hasCondition(view, established):
	case result.status == "True":
		condition{established, "False", "Installing", "the initial names have been accepted"}.set(obj, now)
	case view.Condition(established, "False").IsNil():
		condition{established, "False", "NotAccepted", "not all names are accepted"}.set(obj, now)
	}
	return true
}

// shortNameConflicts returns the errors of new short names that are in use.
func shortNameConflicts(requested, accepted object.View, used func(string) bool) []string {
	var problems []string
	own := accepted.Strings("shortNames")
	for _, name := range requested.Strings("shortNames") {
		if !slices.Contains(own, name) && used(name) {
			problems = append(problems, inUse(name))
		}
	}
	return problems
}

func inUse(name string) string { return fmt.Sprintf("%q is already in use", name) }

// aggregateErrors joins error messages like an Aggregate of k8s.io/apimachinery, without
// duplicates.
func aggregateErrors(problems []string) string {
	var texts []string
	for _, p := range problems {
		if !slices.Contains(texts, p) {
			texts = append(texts, p)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// setEstablished sets the condition Established once the names are accepted.
func setEstablished(obj map[string]any, _ *Names, now string) bool {
	view := object.ViewOf(obj)
	if !hasCondition(view, namesAccepted) || hasCondition(view, established) {
		return false
	}
	if bundle := view.String("spec", "conversion", "webhook", "clientConfig", "caBundle"); bundle != "" && !isBundle(bundle) {
		return condition{established, "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}.set(obj, now)
	}
	return condition{established, "True", "InitialNamesAccepted", "the initial names have been accepted"}.set(obj, now)
}

// deletionFailed is the reason of the condition Terminating after the deletion of custom
// resources failed.
const deletionFailed = "InstanceDeletionFailed"

// DeletionFailed returns a copy of a definition with the condition that its custom
// resources are not deleted, and why. It returns nil if obj has the condition already.
func DeletionFailed(obj object.View, cause error, now string) map[string]any {
	next := obj.ShallowCopy()
	object.Own(next, "status")
	if !(condition{terminating, "True", deletionFailed, cause.Error()}).set(next, now) {
		return nil
	}
	return next
}

// setDeletionInProgress updates the condition Terminating while custom resources are deleted.
// The condition of a deletion that failed stays until a later attempt succeeds.
func setDeletionInProgress(obj map[string]any, _ *Names, now string) bool {
	view := object.ViewOf(obj)
	if view.Condition(terminating, "True").String("reason") == deletionFailed {
		return false
	}
	return IsTerminating(view) && condition{terminating, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"}.set(obj, now)
}

// IsTerminating reports whether a definition is being deleted and has the Finalizer.
func IsTerminating(obj object.View) bool {
	return !obj.IsNil("metadata", "deletionTimestamp") && slices.Contains(obj.Strings("metadata", "finalizers"), cleanupFinalizer)
}

// RemoveFinalizer returns a copy of a definition, whose custom resources are deleted,
// without the Finalizer.
func RemoveFinalizer(obj object.View, now string) map[string]any {
	next := obj.CopyObject()
	done := condition{terminating, "False", "InstanceDeletionCompleted", "removed all instances"}
	if !hasCondition(obj, established) {
		done = condition{terminating, "False", "NeverEstablished", "resource was never established"}
	}
	done.set(next, now)
	meta := object.Meta(next)
	meta["finalizers"] = slices.DeleteFunc(object.List(meta, "finalizers"), func(f any) bool { return f == cleanupFinalizer })
	if len(object.List(meta, "finalizers")) == 0 {
		delete(meta, "finalizers")
	}
	return next
}

// isBundle reports whether a base64-encoded caBundle has a certificate.
func isBundle(bundle string) bool {
	pem, err := base64.StdEncoding.DecodeString(bundle)
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(pem)
}

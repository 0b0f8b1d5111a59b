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

// Types of conditions.
const (
	namesAccepted = "NamesAccepted"
	established   = "Established"
	terminating   = "Terminating"
	conformant    = "KubernetesAPIApprovalPolicyConformant"
)

// Finalizer holds a definition until its instances are gone.
const Finalizer = "customresourcecleanup.apiextensions.k8s.io"

// A condition is one of status.conditions.
type condition struct{ typ, status, reason, message string }

// set puts the condition into the status of obj, in place of the one of its
// type. It tells whether that changes more than times.
func (c condition) set(obj map[string]any, now string) bool {
	status := object.Map(obj, "status")
	list := object.List(status, "conditions")
	for i, e := range list {
		was, _ := e.(map[string]any)
		if object.String(was, "type") != c.typ {
			continue
		}
		if was["status"] == c.status && object.String(was, "reason") == c.reason && object.String(was, "message") == c.message {
			return false
		}
		next := object.Copy(was)
		if was["status"] != c.status || object.String(was, "lastTransitionTime") == "" {
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

// Terminate marks a definition whose deletion has begun: its instances are next.
func Terminate(obj map[string]any) {
	now, next := object.String(obj, "metadata", "deletionTimestamp"), withStatus(obj)
	condition{terminating, "True", "InstanceDeletionPending", "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}.set(next, now)
	obj["status"] = next["status"]
	finalizers := object.List(obj, "metadata", "finalizers")
	if !slices.Contains(finalizers, any(Finalizer)) {
		object.Meta(obj)["finalizers"] = append(slices.Clone(finalizers), Finalizer)
	}
}

// Settle takes the next of the steps by which the server completes the status of
// a definition: it accepts its names, unless others of all have them, and then
// finds it established. It returns the definition after that step, nil if
// nothing is left to do. obj stays as it is; now is the time as metadata has it.
func Settle(obj map[string]any, all []map[string]any, now string) map[string]any {
	next := withStatus(obj)
	for _, step := range []func(map[string]any, []map[string]any, string) bool{approve, accept, establish, clean} {
		if step(next, all, now) {
			return next
		}
	}
	return nil
}

// withStatus is a copy of obj that can be given another status.
func withStatus(obj map[string]any) map[string]any {
	next := make(map[string]any, len(obj))
	for name, v := range obj {
		next[name] = v
	}
	status := make(map[string]any)
	for name, v := range object.Map(obj, "status") {
		status[name] = v
	}
	next["status"] = status
	return next
}

// approve says whether an API of the community's groups was approved.
//
// See https://github.com/kubernetes/enhancements/pull/1111.
func approve(obj map[string]any, _ []map[string]any, now string) bool {
	if !protected(object.String(obj, "spec", "group")) {
		return false
	}
	status, reason, message := approval(object.String(obj, "metadata", "annotations", approvedAnnotation))
	return condition{conformant, status, reason, message}.set(obj, now)
}

const approvedAnnotation = "api-approved.kubernetes.io"

// protected reports whether a group belongs to the Kubernetes community.
func protected(group string) bool {
	return group == "k8s.io" || strings.HasSuffix(group, ".k8s.io") || group == "kubernetes.io" || strings.HasSuffix(group, ".kubernetes.io")
}

// approval reads the annotation by which an API says that it was approved.
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

// accept accepts those of the names that no other definition of the group has.
func accept(obj map[string]any, all []map[string]any, now string) bool {
	asked, has := object.Map(obj, "spec", "names"), object.Map(obj, "status", "acceptedNames")
	if object.Equal(asked, has) {
		return false
	}
	resources, kinds := taken(object.String(obj, "spec", "group"), all)
	names := object.Copy(has)
	if names == nil {
		names = map[string]any{}
	}
	verdict := condition{namesAccepted, "True", "NoConflicts", "no conflicts found"}
	refuse := func(reason, message string) {
		verdict = condition{namesAccepted, "False", reason, message}
	}
	take := func(name, reason string, by map[string]bool) {
		want := object.String(asked, name)
		if want != object.String(has, name) && by[want] {
			refuse(reason, inUse(want))
			return
		}
		object.Keep(names, asked, name)
	}
	take("plural", "PluralConflict", resources)
	take("singular", "SingularConflict", resources)
	if problems := clashes(asked, has, resources); len(problems) > 0 {
		refuse("ShortNamesConflict", aggregate(problems))
	} else {
		object.Keep(names, asked, "shortNames")
	}
	take("kind", "KindConflict", kinds)
	take("listKind", "ListKindConflict", kinds)
	object.Keep(names, asked, "categories")

	status := object.Map(obj, "status")
	changed := !object.Equal(has, names)
	status["acceptedNames"] = names
	if !verdict.set(obj, now) && !changed {
		return false
	}
	switch {
	case hasCondition(obj, established):
	case verdict.status == "True":
		condition{established, "False", "Installing", "the initial names have been accepted"}.set(obj, now)
	case object.Condition(obj, established, "False") == nil:
		condition{established, "False", "NotAccepted", "not all names are accepted"}.set(obj, now)
	}
	return true
}

// clashes are what is wrong with the short names that are new.
func clashes(asked, has map[string]any, by map[string]bool) []string {
	var problems []string
	own := object.Strings(has, "shortNames")
	for _, name := range object.Strings(asked, "shortNames") {
		if !slices.Contains(own, name) && by[name] {
			problems = append(problems, inUse(name))
		}
	}
	return problems
}

func inUse(name string) string { return fmt.Sprintf("%q is already in use", name) }

// aggregate joins errors as Kubernetes does: each text once.
func aggregate(problems []string) string {
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

// taken are the names that definitions of a group have.
func taken(group string, all []map[string]any) (resources, kinds map[string]bool) {
	resources, kinds = map[string]bool{}, map[string]bool{}
	for _, obj := range all {
		if object.String(obj, "spec", "group") != group {
			continue
		}
		names := object.Map(obj, "status", "acceptedNames")
		for _, name := range append(object.Strings(names, "shortNames"), object.String(names, "plural"), object.String(names, "singular")) {
			resources[name] = true
		}
		kinds[object.String(names, "kind")], kinds[object.String(names, "listKind")] = true, true
	}
	return resources, kinds
}

// establish finds a definition established whose names are accepted.
func establish(obj map[string]any, _ []map[string]any, now string) bool {
	if !hasCondition(obj, namesAccepted) || hasCondition(obj, established) {
		return false
	}
	if bundle := object.String(obj, "spec", "conversion", "webhook", "clientConfig", "caBundle"); bundle != "" && !isBundle(bundle) {
		return condition{established, "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}.set(obj, now)
	}
	return condition{established, "True", "InitialNamesAccepted", "the initial names have been accepted"}.set(obj, now)
}

// clean tells that the instances of a definition that is going are removed.
func clean(obj map[string]any, _ []map[string]any, now string) bool {
	return Ending(obj) && condition{terminating, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"}.set(obj, now)
}

// Ending reports whether a definition's deletion has begun, and waits for its
// instances.
func Ending(obj map[string]any) bool {
	return object.Value(obj, "metadata", "deletionTimestamp") != nil && slices.Contains(object.Strings(obj, "metadata", "finalizers"), Finalizer)
}

// Cleaned is a definition whose instances are removed, without the finalizer
// that waited for that.
func Cleaned(obj map[string]any, now string) map[string]any {
	next := object.Copy(obj)
	end := condition{terminating, "False", "InstanceDeletionCompleted", "removed all instances"}
	if !hasCondition(obj, established) {
		end = condition{terminating, "False", "NeverEstablished", "resource was never established"}
	}
	end.set(next, now)
	meta := object.Meta(next)
	meta["finalizers"] = slices.DeleteFunc(object.List(meta, "finalizers"), func(f any) bool { return f == Finalizer })
	if len(object.List(meta, "finalizers")) == 0 {
		delete(meta, "finalizers")
	}
	return next
}

// isBundle reports whether a caBundle, in base64, has a certificate.
func isBundle(bundle string) bool {
	pem, err := base64.StdEncoding.DecodeString(bundle)
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(pem)
}

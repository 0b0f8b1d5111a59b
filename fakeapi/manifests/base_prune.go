package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	generic "github.com/kubefake/kubefake/internal/object"
)

// cleaners are the controllers of a cluster that finish deletions.
var cleaners = []string{
	"garbage-collector-controller", "namespace-controller",
	"persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller",
}

// prune deletes an object of the base, and adds to its result what a cluster does then. It fails only
// if ctx ends or a fork does not start.
func (v *validator) prune(ctx context.Context, target int, b *baseObject, r *found, a *Answer) error {
	t := v.targets[target]
	path := b.replies[target].path
	deletion := &request{method: http.MethodDelete, path: path, user: v.config.User, query: url.Values{"propagationPolicy": {v.config.Prune}}}
	if v.isAlone(b, get(ctx, t.srv, path)) {
		deletion.query.Set("dryRun", "All")
		a.setDeletion(t.replyOf(t.send(ctx, deletion)), r)
		return nil
	}
	fork, err := t.srv.NewFork()
	if err != nil {
		return err
	}
	defer fork.Close()
	if a.setDeletion(t.replyOf(serve(ctx, fork, deletion)), r); a.State == Refused {
		return nil
	}
	if err := runControllers(ctx, fork, cleaners); err != nil {
		return err
	}
	if left := get(ctx, fork, path); left != nil {
		r.add(Finding{Reason: "Finalizers", Field: "metadata.finalizers", Message: heldBy(left)}, a.Release)
	}
	for _, f := range v.effectsOf(ctx, target, fork, b) {
		r.add(f, a.Release)
	}
	return nil
}

// setDeletion sets what the server answers to the deletion of an object.
func (a *Answer) setDeletion(reply *reply, r *found) {
	a.set(reply)
	a.State = Gone
	if reply.Code < 300 {
		return
	}
	a.State = Refused
	for _, f := range reply.errors() {
		f.Message = "the deletion is refused: " + f.Message
		r.add(f, a.Release)
	}
}

// isAlone reports whether the deletion of an object, which is stored as given, only removes it: it
// has neither finalizers nor dependents.
func (v *validator) isAlone(b *baseObject, stored map[string]any) bool {
	if v.base.ownerNames == nil {
		v.base.ownerNames = map[string]bool{}
		for _, o := range v.base.objects {
			for _, w := range o.owners() {
				v.base.ownerNames[w.Kind+"/"+w.Name] = true
			}
		}
	}
	return !b.isNamespace() && b.kind != "CustomResourceDefinition" && !v.base.ownerNames[b.kind+"/"+b.name] &&
		len(generic.List(stored, "metadata", "finalizers")) == 0
}

// heldBy says what keeps an object that is being deleted.
func heldBy(o map[string]any) string {
	names := append(generic.Strings(o, "metadata", "finalizers"), generic.Strings(o, "spec", "finalizers")...)
	out := "it stays until these finalizers are removed: " + strings.Join(names, ", ")
	for c := range generic.Each(generic.Value(o, "status", "conditions")) {
		if typ := generic.String(c, "type"); c["status"] == "True" && (strings.HasSuffix(typ, "Remaining") || typ == "Terminating") {
			out += "; " + generic.String(c, "message")
		}
	}
	return out
}

// effectsOf returns what the deletion of an object, which a fork of a target has done, does to other
// objects of the base.
func (v *validator) effectsOf(ctx context.Context, target int, fork *fakeapi.Server, b *baseObject) (out []Finding) {
	var lost, deleted, held, orphaned []string
	for _, other := range v.base.objects {
		stored := other.replies[target]
		if other == b || stored.Code >= 300 || stored.missing || !b.mayAffect(other, stored.key) {
			continue
		}
		name := stored.key.String()
		switch after := get(ctx, fork, stored.path); {
		case after == nil && v.base.inInput[stored.key]:
			lost = append(lost, name)
		case after == nil:
			deleted = append(deleted, name)
		case generic.Value(after, "metadata", "deletionTimestamp") != nil:
			held = append(held, name)
		case len(generic.List(after, "metadata", "ownerReferences")) < len(other.owners()):
			orphaned = append(orphaned, name)
		}
	}
	for _, effect := range []struct {
		severity Severity
		text     string
		objects  []string
	}{
		{Warning, "its deletion also deletes what the input has: ", lost},
		{Note, "its deletion also deletes ", deleted},
		{Note, "its deletion also deletes, after their finalizers, ", held},
		{Note, "they lose it as their owner: ", orphaned},
	} {
		if len(effect.objects) > 0 {
			out = append(out, Finding{Severity: effect.severity, Reason: "Dependents", Message: effect.text + listed(effect.objects)})
		}
	}
	return out
}

// mayAffect reports whether the deletion of the object may change another one: an object with
// owners, the content of a Namespace, or an object of a definition.
func (b *baseObject) mayAffect(other *baseObject, key objectKey) bool {
	switch {
	case b.group() == "" && b.kind == "Namespace" && key.namespace == b.name:
		return true
	case b.kind == "CustomResourceDefinition":
		group, kind := definedKind(b.body)
		return key.group == group && key.kind == kind
	}
	return len(other.owners()) > 0
}

// definedKind returns the group and the kind that a CustomResourceDefinition defines.
func definedKind(body []byte) (group, kind string) {
	var d struct {
		Spec struct {
			Group string
			Names struct{ Kind string }
		}
	}
	_ = json.Unmarshal(body, &d) // without a kind it defines none
	return d.Spec.Group, d.Spec.Names.Kind
}

// maxNamed is how many objects a finding names.
const maxNamed = 10

// listed returns the names of objects.
func listed(names []string) string {
	slices.Sort(names)
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// String returns the key as "Deployment shop/web".
func (k objectKey) String() string {
	if k.namespace == "" {
		return k.kind + " " + k.name
	}
	return k.kind + " " + k.namespace + "/" + k.name
}

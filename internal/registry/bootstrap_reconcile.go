package registry

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A kube-apiserver that starts over the objects of another one creates its own objects that
// are missing, and brings those in line that nobody has taken over.

// The marks of objects that the server brings in line as it starts.
const (
	autoUpdateRBAC = "rbac.authorization.kubernetes.io/autoupdate"
	autoUpdateFlow = "apf.kubernetes.io/autoupdate-spec"
	autoManaged    = "kube-aggregator.kubernetes.io/automanaged" // a label
)

// reconcileBootstrap brings the server's own objects in line with a release. The errors are
// those of writes, which a user's objects can cause.
func (g *Registry) reconcileBootstrap(a *releaseAPI) error {
	if err := g.reconcileSeeds(a, ""); err != nil {
		return err
	}
	return g.createMissingIPAddresses(a)
}

// reconcileSeeds brings the server's own objects of a group in line with a release, "" being
// all groups.
func (g *Registry) reconcileSeeds(a *releaseAPI, group string) error {
	values, surface := g.seedValues(), a.served.Load()
	expected := map[string]bool{}
	for _, s := range slices.Concat(a.seeds.shared, a.seeds.own) {
		if group != "" && s.Group != group {
			continue
		}
		draft := s.draft(values, nil)
		key := s.typ.Key(draft.Namespace, draft.Name)
		expected[key] = true
		have := g.store.Newest(key)
		if have == nil {
			if s.Resource != "ipaddresses" {
				g.createAgain(surface, s.typ, key, g.split(s.typ, draft))
			}
			continue
		}
		if err := g.reconcileSeed(surface, s.typ, have, draft); err != nil {
			return fmt.Errorf("%s %s: %w", s.Resource, draft.Name, err)
		}
	}
	g.removeUnexpected(surface, group, expected)
	return nil
}

// splitBindings are the ClusterRoleBindings, by name, that were once part of another one.
var splitBindings = map[string]string{"system:public-info-viewer": "system:discovery"}

// split returns a seed that is missing as it is created. A split binding has the subjects,
// labels and annotations of the other one, if there is one: users may have changed it.
func (g *Registry) split(t *resource.Type, draft *storage.Object) *storage.Object {
	from, ok := splitBindings[draft.Name]
	if !ok || t.Kind != "ClusterRoleBinding" {
		return draft
	}
	whole := g.store.Newest(t.Key("", from))
	if whole == nil {
		return draft
	}
	obj, other := object.Copy(draft.Decode(t)), whole.Decode(t)
	obj["subjects"] = other["subjects"]
	for _, name := range []string{"labels", "annotations"} {
		object.Meta(obj)[name] = object.Map(other, "metadata", name)
	}
	return storage.New(t, obj, nil)
}

// reconcileSeed changes an object of the server that exists as the release expects it.
func (g *Registry) reconcileSeed(surface *Surface, t *resource.Type, have, expected *storage.Object) error {
	var update func(obj, expected map[string]any) bool
	switch t.Group {
	case "rbac.authorization.k8s.io":
		update = updateRole
		if t.Kind == "RoleBinding" || t.Kind == "ClusterRoleBinding" {
			update = updateBinding
		}
	case flowcontrol.Group:
		update = updateFlow
	default:
		return nil
	}
	want := expected.Decode(t)
	present, err := have.In(g.config.Context, t)
	if err != nil {
		return err
	}
	if !update(present.Decode(t), want) {
		return nil
	}
	op, o := g.internal("update", Request{
		Type: t, Surface: surface, Namespace: have.Namespace, Name: have.Name, User: apiserverUser, UserAgent: ownUserAgent,
	}), &WriteOptions{}
	_, err = op.change(change{options: o, update: func(old *storage.Decoded) (map[string]any, error) {
		next := object.Copy(old.Map())
		update(next, want)
		return op.withManagedFields(next, old, o), nil
	}})
	return err
}

// updateRole adds to a role what it does not permit, and its missing labels and annotations.
// It reports whether the role changes.
func updateRole(obj, expected map[string]any) bool {
	if object.String(obj, "metadata", "annotations", autoUpdateRBAC) != "true" {
		return false
	}
	changed := addMissing(obj, expected, "labels")
	changed = addMissing(obj, expected, "annotations") || changed
	if expected["aggregationRule"] != nil {
		return appendMissing(object.EnsureMap(obj, "aggregationRule"), object.Map(expected, "aggregationRule"), "clusterRoleSelectors") || changed
	}
	if obj["aggregationRule"] != nil {
		delete(obj, "aggregationRule")
		changed = true
	}
	missing := authz.MissingRules(object.List(obj, "rules"), object.List(expected, "rules"))
	if len(missing) == 0 {
		return changed
	}
	obj["rules"] = append(slices.Clone(object.List(obj, "rules")), missing...)
	return true
}

// updateBinding adds to a binding its missing subjects, labels and annotations. It reports
// whether the binding changes.
func updateBinding(obj, expected map[string]any) bool {
	if object.String(obj, "metadata", "annotations", autoUpdateRBAC) != "true" {
		return false
	}
	changed := addMissing(obj, expected, "labels")
	changed = addMissing(obj, expected, "annotations") || changed
	return appendMissing(obj, expected, "subjects") || changed
}

// updateFlow sets the spec of a FlowSchema or a PriorityLevelConfiguration. It reports whether
// the object changes.
func updateFlow(obj, expected map[string]any) bool {
	name := object.String(obj, "metadata", "name")
	mandatory := name == "exempt" || name == "catch-all"
	if !mandatory && object.String(obj, "metadata", "annotations", autoUpdateFlow) != "true" || object.Equal(obj["spec"], expected["spec"]) {
		return false
	}
	obj["spec"] = object.Copy(object.Map(expected, "spec"))
	return true
}

// addMissing adds the expected labels or annotations that an object does not have.
func addMissing(obj, expected map[string]any, name string) bool {
	changed := false
	for key, value := range object.Map(expected, "metadata", name) {
		if have := object.EnsureMap(object.Meta(obj), name); have[key] == nil {
			have[key] = value
			changed = true
		}
	}
	return changed
}

// appendMissing appends the expected elements that a list does not have.
func appendMissing(obj, expected map[string]any, list string) bool {
	have := slices.Clone(object.List(obj, list))
	n := len(have)
	for _, e := range object.List(expected, list) {
		if !slices.ContainsFunc(have, func(h any) bool { return object.Equal(h, e) }) {
			have = append(have, e)
		}
	}
	obj[list] = have
	return len(have) > n
}

// removeUnexpected removes what another release has made as it started and the release does
// not have: APIServices, FlowSchemas and PriorityLevelConfigurations. group "" is all groups.
func (g *Registry) removeUnexpected(surface *Surface, group string, expected map[string]bool) {
	for _, name := range []string{"apiservices.apiregistration.k8s.io", "flowschemas." + flowcontrol.Group, "prioritylevelconfigurations." + flowcontrol.Group} {
		t := surface.Find(name)
		if group != "" && t.Group != group {
			continue
		}
		for o := range g.store.All(t.Prefix) {
			managed := o.Labels[autoManaged] == "onstart"
			if t.Group == flowcontrol.Group {
				managed = object.String(o.Decode(t), "metadata", "annotations", autoUpdateFlow) == "true"
			}
			if managed && !expected[t.Key("", o.Name)] {
				_ = g.removeNow(t, "", o.Name) // fails if it is gone already
			}
		}
	}
}

// createMissingIPAddresses creates the IPAddresses of Services that a release without
// IPAddresses has created.
func (g *Registry) createMissingIPAddresses(a *releaseAPI) error {
	t := a.types.Lookup("", "v1", "services")
	op := g.internal("create", Request{Type: t, Surface: a.served.Load(), UserAgent: ownUserAgent})
	for o := range g.store.All(t.Prefix) {
		if !a.allocator.LacksIPAddress(o) {
			continue
		}
		effects := a.allocator.SideEffects(t, nil, o)
		err := op.commit(func(tx storage.Txn) error {
			effects.Allocate(tx)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

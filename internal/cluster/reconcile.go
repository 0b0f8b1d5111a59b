package cluster

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// A kube-apiserver that starts over the objects of another one creates its own objects that
// are missing, and updates those that nobody has taken over.

// The marks of objects that the server updates as it starts.
const (
	autoUpdateRBAC = "rbac.authorization.kubernetes.io/autoupdate"
	autoUpdateFlow = "apf.kubernetes.io/autoupdate-spec"
	autoManaged    = "kube-aggregator.kubernetes.io/automanaged" // a label
)

// reconcileBootstrap updates the server's own objects to those of a release. The errors are
// those of writes, which a user's objects can cause.
func (c *Cluster) reconcileBootstrap(a *serving.API) error {
	if err := c.reconcileSeeds(a, ""); err != nil {
		return err
	}
	return c.AddIPAddresses(a.Surface())
}

// reconcileSeeds updates the server's own objects of a group to those of a release, "" being
// all groups.
func (c *Cluster) reconcileSeeds(a *serving.API, group string) error {
	values, served := c.seedValues(), a.Surface()
	expected, seeds := map[string]bool{}, seedsOf(a.Release)
	for _, s := range slices.Concat(seeds.shared, seeds.own) {
		if group != "" && s.Group != group {
			continue
		}
		draft := s.draft(values, nil)
		key := s.typ.Key(draft.Namespace, draft.Name)
		expected[key] = true
		have := c.Store().Newest(key)
		if have == nil {
			if s.Resource != "ipaddresses" {
				c.CreateAgain(served, s.typ, key, c.split(s.typ, draft))
			}
			continue
		}
		if err := c.reconcileSeed(served, s.typ, have, draft); err != nil {
			return fmt.Errorf("%s %s: %w", s.Resource, draft.Name, err)
		}
	}
	c.removeUnexpected(served, group, expected)
	return nil
}

// splitBindings are the ClusterRoleBindings, by name, that were once part of another one.
var splitBindings = map[string]string{"system:public-info-viewer": "system:discovery"}

// split returns a seed that is missing as it is created. A split binding has the subjects,
// labels and annotations of the other one, if there is one: users may have changed it.
func (c *Cluster) split(t *resource.Type, draft *storage.Object) *storage.Object {
	from, ok := splitBindings[draft.Name]
	if !ok || t.Kind != "ClusterRoleBinding" {
		return draft
	}
	whole := c.Store().Newest(t.Key("", from))
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
func (c *Cluster) reconcileSeed(served *serving.Surface, t *resource.Type, have, expected *storage.Object) error {
	var update func(edit *object.Edit, expected map[string]any) bool
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
	present, err := have.In(c.Context(), t)
	if err != nil {
		return err
	}
	if !update(present.Decoded(t).Object().Edit(), want) {
		return nil
	}
	r := registry.Request{
		Type: t, Surface: served, Namespace: have.Namespace, Name: have.Name, User: registry.Server, UserAgent: registry.ServerAgent, SkipWebhooks: true,
	}
	return c.Change(c.Context(), r, registry.OwnChange{Update: func(edit *object.Edit) error {
		update(edit, want)
		return nil
	}})
}

// updateRole adds to a role what it does not permit, and its missing labels and annotations.
// It reports whether the role changes.
func updateRole(edit *object.Edit, expected map[string]any) bool {
	if edit.View().String("metadata", "annotations", autoUpdateRBAC) != "true" {
		return false
	}
	changed := addMissing(edit, expected, "labels")
	changed = addMissing(edit, expected, "annotations") || changed
	if expected["aggregationRule"] != nil {
		return appendMissing(edit, expected, "aggregationRule", "clusterRoleSelectors") || changed
	}
	if !edit.View().At("aggregationRule").IsNil() {
		edit.Delete("aggregationRule")
		changed = true
	}
	rules, _ := edit.View().At("rules").Copy().([]any)
	for _, missing := range authz.MissingRules(rules, object.List(expected, "rules")) {
		edit.Append(missing, "rules")
		changed = true
	}
	return changed
}

// updateBinding adds to a binding its missing subjects, labels and annotations. It reports
// whether the binding changes.
func updateBinding(edit *object.Edit, expected map[string]any) bool {
	if edit.View().String("metadata", "annotations", autoUpdateRBAC) != "true" {
		return false
	}
	changed := addMissing(edit, expected, "labels")
	changed = addMissing(edit, expected, "annotations") || changed
	return appendMissing(edit, expected, "subjects") || changed
}

// updateFlow sets the spec of a FlowSchema or a PriorityLevelConfiguration. It reports whether
// the object changes.
func updateFlow(edit *object.Edit, expected map[string]any) bool {
	obj := edit.View()
	name := obj.String("metadata", "name")
	mandatory := name == "exempt" || name == "catch-all"
	if !mandatory && obj.String("metadata", "annotations", autoUpdateFlow) != "true" || obj.At("spec").EqualTo(expected["spec"]) {
		return false
	}
	edit.Set(object.Copy(expected["spec"]), "spec")
	return true
}

// addMissing adds the expected labels or annotations that an object does not have.
func addMissing(edit *object.Edit, expected map[string]any, name string) bool {
	changed := false
	for key, value := range object.Map(expected, "metadata", name) {
		if edit.View().At("metadata", name, key).IsNil() {
			edit.Set(value, "metadata", name, key)
			changed = true
		}
	}
	return changed
}

// appendMissing appends the expected elements that the list at a path does not have.
func appendMissing(edit *object.Edit, expected map[string]any, path ...string) bool {
	changed := false
	for _, e := range object.List(expected, path...) {
		if !hasItem(edit.View().At(path...), e) {
			edit.Append(object.Copy(e), path...)
			changed = true
		}
	}
	return changed
}

// hasItem reports whether a list has an item that is equal to v.
func hasItem(list object.View, v any) bool {
	for _, item := range list.Items() {
		if item.EqualTo(v) {
			return true
		}
	}
	return false
}

// removeUnexpected removes what another release has made as it started and the release does
// not have: APIServices, FlowSchemas and PriorityLevelConfigurations. group "" is all groups.
func (c *Cluster) removeUnexpected(served *serving.Surface, group string, expected map[string]bool) {
	for _, name := range []string{"apiservices.apiregistration.k8s.io", "flowschemas." + flowcontrol.Group, "prioritylevelconfigurations." + flowcontrol.Group} {
		t := served.Find(name)
		if group != "" && t.Group != group {
			continue
		}
		for o := range c.Store().All(t.Prefix) {
			managed := o.Labels[autoManaged] == "onstart"
			if t.Group == flowcontrol.Group {
				managed = object.String(o.Decode(t), "metadata", "annotations", autoUpdateFlow) == "true"
			}
			if managed && !expected[t.Key("", o.Name)] {
				_ = c.RemoveNow(t, "", o.Name) // fails if it is gone already
			}
		}
	}
}

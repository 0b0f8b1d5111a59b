// Package clusterroleaggregation has the clusterrole-aggregation-controller: the rules
// of a ClusterRole with an aggregationRule are those of the ClusterRoles that it
// selects.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles.
package clusterroleaggregation

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	manager = "clusterrole-aggregation-controller"

	// byAggregation is the index of the ClusterRoles that have an aggregationRule.
	byAggregation = "aggregation"
)

type aggregation struct {
	client *controller.Client
	roles  *controller.Informer
	queue  *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &aggregation{client: e.Client("clusterrole-aggregation-controller")}
	c.queue = e.Queue(c.sync)
	c.roles = e.Informer(controller.ClusterRoles, func(_, _ *controller.Object) {
		for _, role := range c.roles.By(byAggregation, "") {
			c.queue.Add(role.Key())
		}
	})
	c.roles.Index(byAggregation, func(role *controller.Object) []string {
		if role.View().IsNil("aggregationRule") {
			return nil
		}
		return []string{""}
	})
}

// sync applies the rules of the roles that a role selects to it.
func (c *aggregation) sync(k controller.Key) error {
	role := c.roles.Get("", k.Name)
	if role == nil || role.View().IsNil("aggregationRule") {
		return nil
	}
	rules := []any{}
	for s := range role.View().At("aggregationRule", "clusterRoleSelectors").Objects() {
		labels, err := selector.FromView(s).Selector()
		if err != nil {
			return err
		}
		for _, other := range c.roles.List("", labels) {
			if other.Name == role.Name {
				continue
			}
			for _, rule := range other.View().At("rules").Items() {
				if !contains(rules, rule) {
					rules = append(rules, rule.Shared())
				}
			}
		}
	}
	old := role.View().At("rules")
	if old.Len() == 0 && len(rules) == 0 || old.EqualTo(rules) {
		return nil
	}
	obj := map[string]any{"metadata": map[string]any{"name": role.Name}}
	if len(rules) > 0 {
		obj["rules"] = object.Copy(rules)
	}
	_, err := c.client.Apply(controller.ClusterRoles, "", manager, obj)
	return err
}

func contains(rules []any, rule object.View) bool {
	for _, r := range rules {
		if rule.EqualTo(r) {
			return true
		}
	}
	return false
}

// Package serviceaccount has the serviceaccount-controller: every namespace has a
// ServiceAccount "default".
//
// See https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#serviceaccount-controller.
package serviceaccount

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
)

const defaultName = "default"

type serviceAccounts struct {
	client     *controller.Client
	namespaces *controller.Informer
	accounts   *controller.Informer
	queue      *controller.Queue // of namespaces
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &serviceAccounts{client: e.Client("service-account-controller")}
	c.queue = e.Queue(c.sync)
	c.namespaces = e.Informer(controller.Namespaces, func(_, ns *controller.Object) {
		if ns != nil {
			c.queue.Add(ns.Key())
		}
	})
	c.accounts = e.Informer(controller.ServiceAccounts, c.accountChanged)
}

// accountChanged queues the namespace of a deleted ServiceAccount.
func (c *serviceAccounts) accountChanged(old, account *controller.Object) {
	if account == nil && old.Name == defaultName {
		c.queue.Add(controller.Key{Name: old.Namespace})
	}
}

// sync creates the ServiceAccount of a namespace.
func (c *serviceAccounts) sync(k controller.Key) error {
	ns := c.namespaces.Get("", k.Name)
	if ns == nil || ns.View().String("status", "phase") != "Active" || c.accounts.Get(k.Name, defaultName) != nil {
		return nil
	}
	_, err := c.client.Create(controller.ServiceAccounts, k.Name, map[string]any{
		"metadata": map[string]any{"name": defaultName, "namespace": k.Name},
	})
	if controller.IsAlreadyExists(err) || controller.IsTerminatingNamespace(err) {
		return nil
	}
	return err
}

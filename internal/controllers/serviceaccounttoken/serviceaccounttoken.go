// Package serviceaccounttoken has the serviceaccount-token-controller: a Secret of the
// type kubernetes.io/service-account-token gets a token, and goes with its
// ServiceAccount.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#token-controller.
package serviceaccounttoken

import (
	"encoding/base64"
	"slices"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	secretType     = "kubernetes.io/service-account-token"
	nameAnnotation = "kubernetes.io/service-account.name"
	uidAnnotation  = "kubernetes.io/service-account.uid"

	// maxRetries is how many times in a row a failed sync is repeated.
	maxRetries = 10
)

type tokens struct {
	env      *controller.Env
	client   *controller.Client
	accounts *controller.Informer
	secrets  *controller.Informer
	deleted  *controller.Queue // of ServiceAccounts, by namespace and UID
	queue    *controller.Queue // of Secrets
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &tokens{env: e}
	c.client = e.ClientAs(&authn.User{Name: "system:kube-controller-manager", Groups: []string{authn.AuthenticatedGroup}}, "kube-controller-manager")
	c.deleted = e.Queue(c.syncDeleted, controller.QueueOptions{MaxRetries: maxRetries})
	c.queue = e.Queue(c.sync, controller.QueueOptions{MaxRetries: maxRetries})
	c.accounts = e.Informer(controller.ServiceAccounts, func(old, account *controller.Object) {
		if account == nil {
			c.deleted.Add(controller.Key{Namespace: old.Namespace, Name: old.UID})
		}
	})
	c.secrets = e.Informer(controller.Secrets, c.secretChanged)
}

// isToken reports whether a Secret is a token of a ServiceAccount.
func isToken(secret *controller.Object) bool {
	return secret.View().String("type") == secretType
}

func annotation(secret *controller.Object, name string) string {
	return secret.View().String("metadata", "annotations", name)
}

// secretChanged queues a token, and removes a token that is gone from its
// ServiceAccount.
func (c *tokens) secretChanged(old, secret *controller.Object) {
	switch {
	case secret != nil && isToken(secret):
		c.queue.Add(secret.Key())
	case secret == nil && isToken(old):
		if account := c.account(old); account != nil && slices.Contains(references(account.View()), old.Name) {
			c.queue.Add(old.Key())
		}
	}
}

// account returns the ServiceAccount of a token, nil if it does not exist.
func (c *tokens) account(secret *controller.Object) *controller.Object {
	account := c.accounts.Get(secret.Namespace, annotation(secret, nameAnnotation))
	if uid := annotation(secret, uidAnnotation); account == nil || uid != "" && uid != account.UID {
		return nil
	}
	return account
}

// references returns the names of the Secrets of a ServiceAccount.
func references(account object.View) (names []string) {
	for ref := range account.At("secrets").Objects() {
		names = append(names, ref.String("name"))
	}
	return names
}

// syncDeleted deletes the tokens of a ServiceAccount that is gone.
func (c *tokens) syncDeleted(k controller.Key) error {
	for _, secret := range c.secrets.List(k.Namespace, selector.Labels{}) {
		if isToken(secret) && annotation(secret, uidAnnotation) == k.Name {
			if err := c.delete(secret); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *tokens) delete(secret *controller.Object) error {
	err := c.client.Delete(controller.Secrets, secret.Namespace, secret.Name, controller.DeleteOptions{UID: secret.UID})
	if controller.IsNotFound(err) || controller.IsConflict(err) {
		return nil
	}
	return err
}

// sync fills a Secret, or deletes it if its ServiceAccount does not exist. It removes
// the references to a Secret that is gone.
func (c *tokens) sync(k controller.Key) error {
	secret := c.secrets.Get(k.Namespace, k.Name)
	if secret == nil {
		return c.removeReferences(k)
	}
	account := c.account(secret)
	if account == nil {
		live, err := c.client.Get(controller.ServiceAccounts, k.Namespace, annotation(secret, nameAnnotation))
		if err != nil && !controller.IsNotFound(err) {
			return err
		}
		if uid := annotation(secret, uidAnnotation); err != nil || uid != "" && uid != live.UID {
			return c.delete(secret)
		}
		account = live
	}
	if len(c.missing(secret)) == 0 {
		return nil
	}
	live, err := c.client.Get(controller.Secrets, k.Namespace, k.Name)
	if controller.IsNotFound(err) || err == nil && live.Revision != secret.Revision {
		return nil // its change queues it again
	}
	if err != nil {
		return err
	}
	return c.fill(live, account)
}

// missing returns the keys of the data that a Secret lacks.
func (c *tokens) missing(secret *controller.Object) (keys []string) {
	data := secret.View().At("data")
	if ca := c.env.RootCA(); ca != "" && data.String("ca.crt") != encode(ca) {
		keys = append(keys, "ca.crt")
	}
	for _, key := range []string{"namespace", "token"} {
		if s := data.String(key); s == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// fill writes the data that a Secret lacks.
func (c *tokens) fill(secret, account *controller.Object) error {
	obj := secret.Copy()
	for _, key := range c.missing(secret) {
		value := c.env.RootCA()
		switch key {
		case "namespace":
			value = secret.Namespace
		case "token":
			token, err := c.env.SignToken(serviceaccount.SecretToken{
				Namespace: secret.Namespace, Secret: secret.Name, Account: account.Name, AccountUID: account.UID,
			})
			if err != nil {
				return err
			}
			value = token
		}
		object.Set(obj, encode(value), "data", key)
	}
	object.Set(obj, account.Name, "metadata", "annotations", nameAnnotation)
	object.Set(obj, account.UID, "metadata", "annotations", uidAnnotation)
	_, err := c.client.Update(controller.Secrets, "", obj)
	if controller.IsConflict(err) || controller.IsNotFound(err) {
		return nil
	}
	return err
}

// removeReferences removes the references to a Secret from the ServiceAccounts of its
// namespace.
func (c *tokens) removeReferences(k controller.Key) error {
	for _, account := range c.accounts.List(k.Namespace, selector.Labels{}) {
		if !slices.Contains(references(account.View()), k.Name) {
			continue
		}
		obj := account.Copy()
		var kept []any
		for ref := range object.Each(obj["secrets"]) {
			if object.String(ref, "name") != k.Name {
				kept = append(kept, ref)
			}
		}
		delete(obj, "secrets")
		if len(kept) > 0 {
			obj["secrets"] = kept
		}
		if _, err := c.client.Update(controller.ServiceAccounts, "", obj); err != nil && !controller.IsNotFound(err) {
			return err
		}
	}
	return nil
}

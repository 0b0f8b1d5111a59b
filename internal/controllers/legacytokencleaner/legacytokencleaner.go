// Package legacytokencleaner has the legacy-serviceaccount-token-cleaner-controller: it
// marks generated tokens of ServiceAccounts that nobody has used for a year as invalid,
// and deletes them after another year.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#legacy-serviceaccount-token-cleaner.
package legacytokencleaner

import (
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	period = 24 * time.Hour

	// cleanUpPeriod is the default of --legacy-service-account-token-clean-up-period.
	cleanUpPeriod = 365 * 24 * time.Hour

	lastUsed     = "kubernetes.io/legacy-token-last-used"
	invalidSince = "kubernetes.io/legacy-token-invalid-since"
)

type cleaner struct {
	env      *controller.Env
	client   *controller.Client
	queue    *controller.Queue // the one key is the zero Key
	accounts *controller.Informer
	secrets  *controller.Informer
	pods     *controller.Informer
	start    time.Time // of the first period
}

// Start starts the controller. It looks at the tokens every day, as long as there are any.
func Start(e *controller.Env) {
	c := &cleaner{env: e, client: e.Client("legacy-service-account-token-cleaner"), start: e.Now()}
	c.queue = e.Queue(func(controller.Key) error {
		c.clean()
		return nil
	})
	c.accounts = e.Informer(controller.ServiceAccounts)
	c.pods = e.Informer(controller.Pods)
	c.secrets = e.Informer(controller.Secrets, func(old, secret *controller.Object) {
		switch {
		case old != nil || !isToken(secret):
		case e.Now().Equal(c.start):
			c.queue.Add(controller.Key{})
		default:
			c.schedule()
		}
	})
}

// schedule queues a look at the tokens for the next period.
func (c *cleaner) schedule() {
	c.queue.AddAfter(controller.Key{}, period-c.env.Now().Sub(c.start)%period)
}

func isToken(secret *controller.Object) bool {
	return secret.View().String("type") == "kubernetes.io/service-account-token"
}

// clean marks and deletes tokens. A write that fails is repeated in the next period.
func (c *cleaner) clean() {
	found := false
	now := c.env.Now().UTC()
	before := now.Add(-cleanUpPeriod)
	tracked, ok := c.trackedSince()
	for _, secret := range c.secrets.List("", selector.Labels{}) {
		if !isToken(secret) {
			continue
		}
		found = true
		if !ok || now.Before(tracked.Add(cleanUpPeriod)) || secret.Terminating || !c.unused(secret, before) {
			continue
		}
		since := secret.Labels[invalidSince]
		if _, err := time.Parse(time.DateOnly, since); err != nil {
			_, _ = c.client.MergePatch(controller.Secrets, secret.Namespace, secret.Name, "", map[string]any{"metadata": map[string]any{
				"name": secret.Name, "namespace": secret.Namespace, "uid": secret.UID, "labels": map[string]any{invalidSince: now.Format(time.DateOnly)},
			}})
		} else if since < before.Format(time.DateOnly) {
			_ = c.client.Delete(controller.Secrets, secret.Namespace, secret.Name, controller.DeleteOptions{
				ResourceVersion: secret.View().String("metadata", "resourceVersion"),
			})
		}
	}
	if found {
		c.schedule()
	}
}

// trackedSince returns the time since which kube-apiserver records the use of tokens: the
// day after that in its ConfigMap.
func (c *cleaner) trackedSince() (time.Time, bool) {
	o, err := c.client.Get(controller.ConfigMaps, "kube-system", "kube-apiserver-legacy-service-account-token-tracking")
	if err != nil {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, o.View().String("data", "since"))
	return day.AddDate(0, 0, 1), err == nil
}

// unused reports whether a token was generated for its ServiceAccount and neither used
// since a time nor mounted by a Pod.
func (c *cleaner) unused(secret *controller.Object, since time.Time) bool {
	if !controller.Time(secret.View(), "metadata", "creationTimestamp").Before(since) {
		return false
	}
	if day, ok := secret.Labels[lastUsed]; ok {
		if _, err := time.Parse(time.DateOnly, day); err != nil || day >= since.Format(time.DateOnly) {
			return false
		}
	}
	if !c.generated(secret) {
		return false
	}
	for _, pod := range c.pods.List(secret.Namespace, selector.Labels{}) {
		if mentionsSecret(pod.View().At("spec"), "", secret.Name) {
			return false
		}
	}
	return true
}

// generated reports whether the ServiceAccount of a token refers to it.
func (c *cleaner) generated(secret *controller.Object) bool {
	annotations := secret.View().At("metadata", "annotations")
	account := c.accounts.Get(secret.Namespace, annotations.String("kubernetes.io/service-account.name"))
	if account == nil {
		return false
	}
	if uid := annotations.String("kubernetes.io/service-account.uid"); uid != "" && uid != account.UID {
		return false
	}
	for ref := range account.View().At("secrets").Objects() {
		if ref.String("name") == secret.Name {
			return true
		}
	}
	return false
}

// mentionsSecret reports whether a part of the spec of a Pod refers to a Secret. field is
// the name of the field that has the part.
func mentionsSecret(v object.View, field, name string) bool {
	for _, part := range v.Items() {
		if mentionsSecret(part, field, name) {
			return true
		}
	}
	if !v.IsObject() {
		return false
	}
	switch field {
	case "secretRef", "secretKeyRef", "imagePullSecrets", "nodePublishSecretRef":
		return v.String("name") == name
	case "secret": // of a volume, or of a projected one
		return v.String("secretName") == name || v.String("name") == name
	case "azureFile":
		return v.String("secretName") == name
	}
	for field, part := range v.Fields() {
		if mentionsSecret(part, field, name) {
			return true
		}
	}
	return false
}

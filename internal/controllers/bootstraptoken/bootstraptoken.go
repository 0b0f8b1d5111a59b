// Package bootstraptoken has two controllers of bootstrap tokens, the Secrets of the type
// bootstrap.kubernetes.io/token in kube-system, with which nodes join a cluster: the
// token-cleaner-controller and the bootstrap-signer-controller.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/.
package bootstraptoken

import (
	"encoding/base64"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
)

const namespace = "kube-system"

// isToken reports whether a Secret, which may be nil, is a bootstrap token.
func isToken(secret *controller.Object) bool {
	return secret != nil && secret.Namespace == namespace && secret.View().String("type") == "bootstrap.kubernetes.io/token"
}

// field returns a field of the data of a Secret.
func field(secret *controller.Object, name string) string {
	value, _ := base64.StdEncoding.DecodeString(secret.View().String("data", name))
	return string(value)
}

// expiration returns how long a token is valid. A token without an expiration never
// expires: left is 0.
func expiration(secret *controller.Object, now time.Time) (left time.Duration, expired bool) {
	text := field(secret, "expiration")
	if text == "" {
		return 0, false
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !at.After(now) {
		return 0, true
	}
	return at.Sub(now), false
}

// StartCleaner starts the token-cleaner-controller, which deletes expired tokens.
func StartCleaner(e *controller.Env) {
	client := e.Client("token-cleaner")
	var secrets *controller.Informer
	var queue *controller.Queue
	queue = e.Queue(func(k controller.Key) error {
		secret := secrets.Get(k.Namespace, k.Name)
		if !isToken(secret) {
			return nil
		}
		left, expired := expiration(secret, e.Now())
		if expired {
			_ = client.Delete(controller.Secrets, k.Namespace, k.Name, controller.DeleteOptions{UID: secret.UID})
		} else if left > 0 {
			queue.AddAfter(k, left)
		}
		return nil
	})
	secrets = e.Informer(controller.Secrets, func(_, secret *controller.Object) {
		if isToken(secret) {
			queue.Add(secret.Key())
		}
	})
}

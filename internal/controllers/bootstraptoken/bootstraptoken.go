// Package bootstraptoken has two controllers of bootstrap tokens, the Secrets of the type
// bootstrap.kubernetes.io/token in kube-system, with which nodes join a cluster: the
// token-cleaner-controller and the bootstrap-signer-controller.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/.
package bootstraptoken

import (
	"github.com/kubefake/kubefake/internal/authn/bootstraptoken"
	"github.com/kubefake/kubefake/internal/controllers/controller"
)

// isToken reports whether a Secret, which may be nil, is a bootstrap token.
func isToken(secret *controller.Object) bool {
	return secret != nil && secret.Namespace == bootstraptoken.Namespace && secret.View().String("type") == bootstraptoken.SecretType
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
		left, expired := bootstraptoken.Expiration(secret.View(), e.Now())
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

// Package certificates has the certificatesigningrequest-approving-controller, which
// approves the requests of kubelets for their client certificates, and the
// certificatesigningrequest-cleaner-controller, which deletes old requests.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/.
package certificates

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/object"
)

// account is the ServiceAccount of the controllers.
const account = "certificate-controller"

const kubeletClient = "kubernetes.io/kube-apiserver-client-kubelet"

type approver struct {
	client   *controller.Client
	requests *controller.Informer
	queue    *controller.Queue
}

// StartApproving starts the certificatesigningrequest-approving-controller.
func StartApproving(e *controller.Env) {
	c := &approver{client: e.Client(account)}
	c.queue = e.Queue(c.sync)
	c.requests = e.Informer(controller.CertificateSigningRequests, func(_, csr *controller.Object) {
		if csr != nil {
			c.queue.Add(csr.Key())
		}
	})
}

// A permission is a subresource that the author of a request must be permitted to
// create, and the message of the approval.
type permission struct{ subresource, message string }

// sync approves a request of a kubelet whose author is permitted to make it.
func (c *approver) sync(k controller.Key) error {
	csr := c.requests.Get("", k.Name)
	if csr == nil {
		return nil
	}
	obj := csr.View()
	if obj.String("status", "certificate") != "" || !controller.Condition(obj, "Approved").IsNil() || !controller.Condition(obj, "Denied").IsNil() {
		return nil
	}
	request, err := certificates.ParseRequest(obj.String("spec", "request"))
	if err != nil {
		return fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	if obj.String("spec", "signerName") != kubeletClient || checkKubeletClient(request, obj.Strings("spec", "usages")) != nil {
		return nil
	}
	permissions := []permission{{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}}
	if obj.String("spec", "username") == request.Subject.CommonName {
		permissions = slices.Insert(permissions, 0, permission{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."})
	}
	for _, p := range permissions {
		allowed, err := c.authorize(obj, p.subresource)
		if err != nil {
			return err
		}
		if !allowed {
			continue
		}
		approved := csr.Copy()
		controller.SetCondition(object.EnsureMap(approved, "status"), map[string]any{
			"type": "Approved", "status": "True", "reason": "AutoApproved", "message": p.message,
		})
		_, err = c.client.Update(controller.CertificateSigningRequests, "approval", approved)
		return err
	}
	return nil
}

// authorize reports whether the author of a request may create a subresource of
// CertificateSigningRequests.
func (c *approver) authorize(csr object.View, subresource string) (bool, error) {
	spec := map[string]any{"resourceAttributes": map[string]any{
		"group": "certificates.k8s.io", "resource": "certificatesigningrequests", "verb": "create", "subresource": subresource, "version": "*",
	}}
	for from, to := range map[string]string{"username": "user", "uid": "uid", "groups": "groups", "extra": "extra"} {
		if v := csr.At("spec", from); !v.IsNil() {
			spec[to] = v.Copy()
		}
	}
	review, err := c.client.CreateFor(controller.SubjectAccessReviews, "", "", "", map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec,
	})
	return object.Bool(review, "status", "allowed"), err
}

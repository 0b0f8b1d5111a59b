package registry

import (
	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// reviews answer a POST of a virtual kind, which is not stored. Each returns the
// answer for a decoded review; it may change the review and return it.
var reviews = map[status.GroupResource]func(op *operation, review map[string]any) (map[string]any, error){
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:      (*operation).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}: (*operation).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:  (*operation).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:   (*operation).reviewRules,
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:             (*operation).reviewToken,
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:       (*operation).reviewSelf,
}

// review answers a review. Its namespace need not exist.
func (op *operation) review() (Result, error) {
	c, err := op.readNew()
	if err != nil {
		return Result{}, err
	}
	if err := op.provisionNamespace(admission.DisplayName("", c.object)); err != nil {
		return Result{}, err
	}
	if err := op.mutate(c, object.View{}); err != nil {
		return Result{}, err
	}
	if err := op.validate(c, c.object, object.View{}); err != nil {
		return Result{}, err
	}
	out, err := reviews[op.groupResource()](op, c.object)
	if err != nil {
		return Result{}, err
	}
	out["kind"], out["apiVersion"] = op.Type.Kind, op.Type.GroupVersion.String()
	return Result{Answer: &Answer{Object: out, Codec: op.Type.Codec, Type: op.Type.InternalType()}, Created: true}, nil
}

func (op *operation) reviewAccess(obj map[string]any) (map[string]any, error) {
	return obj, op.authorizer.ReviewAccess(op.ctx, op.api().Release, op.Type, obj, op.User)
}

func (op *operation) reviewRules(obj map[string]any) (map[string]any, error) {
	rules, err := op.authorizer.ReviewRules(obj, op.User)
	return map[string]any{"status": rules}, err
}

func (op *operation) reviewToken(obj map[string]any) (map[string]any, error) {
	return obj, op.authenticator.ReviewToken(op.ctx, obj)
}

// reviewSelf answers a SelfSubjectReview.
func (op *operation) reviewSelf(map[string]any) (map[string]any, error) {
	return map[string]any{
		"metadata": map[string]any{"creationTimestamp": op.now()},
		"status":   map[string]any{"userInfo": op.User.UserInfo()},
	}, nil
}

// createToken issues a token of a service account for a TokenRequest.
func (op *operation) createToken() (Result, error) {
	c, err := op.readAction()
	if err != nil {
		return Result{}, err
	}
	issued, err := op.tokens.Request(op.api().Release, c.object, op.Namespace, op.Name, serviceaccount.Checks{
		Admit: func() error { return op.validate(c, c.object, object.View{}) },
		Attest: func(account *authn.User, group string) error {
			return op.authorizer.Check(op.ctx, account, authz.Attributes{
				Verb: "attest", IsResource: true,
				Group: "authentication.k8s.io", Version: "*", Resource: "admissionReviewAPIGroups", Name: group,
			})
		},
	})
	op.warn(issued.Warnings...)
	for key, value := range issued.Annotations {
		op.annotate(key, value)
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Answer: &Answer{Object: c.object, Codec: op.bodyCodec(), Type: resource.InternalPackage(op.sub.Kind.Group) + "." + op.sub.Kind.Kind}, Created: true}, nil
}

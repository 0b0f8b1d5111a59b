package apiserver

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// reviews answer a POST of a virtual kind, which is not stored. Each returns the
// answer for a decoded review; it may change the review and return it.
var reviews = map[status.GroupResource]func(*request, map[string]any) (map[string]any, error){
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:      (*request).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}: (*request).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:  (*request).reviewAccess,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:   (*request).reviewRules,
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:             (*request).reviewToken,
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:       (*request).reviewSelf,
}

// review answers a POST of a review. Its namespace need not exist.
func (r *request) review() error {
	answer, ok := reviews[r.groupResource()]
	if !ok {
		return status.NotImplemented(fmt.Sprintf("%s %s", r.Verb, r.groupResource()))
	}
	obj, o, err := r.readNew()
	if err != nil {
		return err
	}
	if err := r.mutate(obj, nil, o); err != nil {
		return err
	}
	if err := r.validate(obj, nil, o); err != nil {
		return err
	}
	out, err := answer(r, obj)
	if err != nil {
		return err
	}
	out["kind"], out["apiVersion"] = r.typ.Kind, r.typ.GroupVersion.String()
	return r.answerUnstored(out, r.typ.Codec)
}

// answerUnstored answers 201 with an object that is not stored.
func (r *request) answerUnstored(obj map[string]any, codec resource.Codec) error {
	normal, _, err := codec.Normalize(obj, false)
	if err != nil {
		return status.Internal(err.Error())
	}
	return r.answerJSON(http.StatusCreated, append(codec.Append(nil, normal), '\n'), codec.Wire())
}

func (r *request) reviewAccess(obj map[string]any) (map[string]any, error) {
	return obj, r.server.authorizer.ReviewAccess(r.typ, obj, r.user)
}

func (r *request) reviewRules(obj map[string]any) (map[string]any, error) {
	rules, err := r.server.authorizer.ReviewRules(obj, r.user)
	return map[string]any{"status": rules}, err
}

func (r *request) reviewToken(obj map[string]any) (map[string]any, error) {
	return obj, r.server.authenticator.ReviewToken(obj)
}

// reviewSelf answers a SelfSubjectReview.
func (r *request) reviewSelf(map[string]any) (map[string]any, error) {
	return map[string]any{
		"metadata": map[string]any{"creationTimestamp": r.now()},
		"status":   map[string]any{"userInfo": r.user.UserInfo()},
	}, nil
}

package authn

import (
	"context"
	"errors"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// ReviewToken sets the status of a TokenReview. What it does not set stays as the client sent it.
// It fails with 400 if the review has no token.
func (a *Authenticator) ReviewToken(ctx context.Context, review map[string]any) error {
	token := object.String(review, "spec", "token")
	if token == "" {
		return status.BadRequest("token is required for TokenReview in authentication")
	}
	audiences := object.Strings(review, "spec", "audiences")
	if len(audiences) == 0 {
		audiences = a.Audiences
	}
	user, common, err := a.AuthenticateToken(ctx, token, audiences)
	if user == nil {
		errs := []error{errors.New("invalid bearer token")}
		var more tokenErrors
		if errors.As(err, &more) {
			errs = append(errs, more...)
		}
		delete(object.Map(review, "status"), "authenticated")
		object.Set(review, status.Aggregate(errs), "status", "error")
		return nil
	}
	for name, v := range map[string]any{"authenticated": true, "user": user.UserInfo(), "audiences": object.FromStrings(common)} {
		object.Set(review, v, "status", name)
	}
	return nil
}

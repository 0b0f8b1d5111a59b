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
	token, _ = bearerToken("Bearer " + token)
	if token == "" { // the token is spaces
		if user := a.withoutToken(""); user != nil {
			setReviewed(review, user, audiences)
		}
		return nil
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
	setReviewed(review, user, common)
	return nil
}

func setReviewed(review map[string]any, user *User, audiences []string) {
	for name, v := range map[string]any{"authenticated": true, "user": user.UserInfo(), "audiences": object.FromStrings(audiences)} {
		object.Set(review, v, "status", name)
	}
}

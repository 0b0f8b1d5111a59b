// Package bootstraptoken authenticates bootstrap tokens: those of the Secrets of the type
// bootstrap.kubernetes.io/token in kube-system, with which nodes join a cluster.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/.
package bootstraptoken

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
)

// Namespace, SecretType and SecretPrefix are the namespace, the type and the beginning of the
// names of the Secrets of bootstrap tokens.
const (
	Namespace    = "kube-system"
	SecretType   = "bootstrap.kubernetes.io/token"
	SecretPrefix = "bootstrap-token-"
)

const defaultGroup = "system:bootstrappers"

var (
	tokenForm = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)
	groupForm = regexp.MustCompile(`^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$`)
)

// An Authenticator authenticates bootstrap tokens. It is safe for concurrent use if Secret is.
type Authenticator struct {
	// Secret returns a Secret in Namespace, nil if it does not exist.
	Secret func(name string) object.View

	Now func() time.Time

	// Audiences are those of the server.
	Audiences []string
}

var _ authn.TokenAuthenticator = (*Authenticator)(nil)

// AuthenticateToken implements [authn.TokenAuthenticator]. A token that is not valid is one of an
// unknown form: there is no error.
func (a *Authenticator) AuthenticateToken(_ context.Context, token string, audiences []string) (*authn.User, []string, error) {
	parts := tokenForm.FindStringSubmatch(token)
	common := authn.Intersect(a.Audiences, audiences)
	if parts == nil || len(common) == 0 {
		return nil, nil, nil
	}
	user := userOf(a.Secret(SecretPrefix+parts[1]), parts[1], parts[2], a.Now())
	if user == nil {
		return nil, nil, nil
	}
	return user, common, nil
}

// userOf returns the user of the token that a Secret has; nil if it has another one or must not
// authenticate.
func userOf(secret object.View, id, text string, now time.Time) *authn.User {
	_, expired := Expiration(secret, now)
	if !secret.IsNil("metadata", "deletionTimestamp") || secret.String("type") != SecretType ||
		subtle.ConstantTimeCompare([]byte(Field(secret, "token-secret")), []byte(text)) != 1 ||
		Field(secret, "token-id") != id || expired || Field(secret, "usage-bootstrap-authentication") != "true" {
		return nil
	}
	groups := []string{defaultGroup}
	if extra := Field(secret, "auth-extra-groups"); extra != "" {
		groups = append(groups, strings.Split(extra, ",")...)
	}
	for _, group := range groups[1:] {
		if !groupForm.MatchString(group) {
			return nil
		}
	}
	slices.Sort(groups)
	return &authn.User{Name: "system:bootstrap:" + id, Groups: slices.Compact(groups)}
}

// Field returns a field of the data of a Secret.
func Field(secret object.View, name string) string {
	value, _ := base64.StdEncoding.DecodeString(secret.String("data", name))
	return string(value)
}

// Expiration returns how long the token of a Secret is valid. A token without an expiration never
// expires: left is 0.
func Expiration(secret object.View, now time.Time) (left time.Duration, expired bool) {
	text := Field(secret, "expiration")
	if text == "" {
		return 0, false
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !at.After(now) {
		return 0, true
	}
	return at.Sub(now), false
}

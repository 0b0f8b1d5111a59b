package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/storage"
)

// claims is the payload of a token. Its fields are in the order of their names.
type claims struct {
	Audience   []string      `json:"aud"`
	Expires    int64         `json:"exp"`
	IssuedAt   int64         `json:"iat"`
	Issuer     string        `json:"iss"`
	ID         string        `json:"jti"`
	Kubernetes accountClaims `json:"kubernetes.io"`
	NotBefore  int64         `json:"nbf"`
	Subject    string        `json:"sub"`
}

// accountClaims are the service account of a token and the objects that the
// token is bound to.
type accountClaims struct {
	Namespace string `json:"namespace"`
	Node      *ref   `json:"node,omitempty"`
	Pod       *ref   `json:"pod,omitempty"`
	Secret    *ref   `json:"secret,omitempty"`
	Account   ref    `json:"serviceaccount"`
	WarnAfter int64  `json:"warnafter,omitempty"`
}

// A ref refers to an object of the core group.
type ref struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

func refTo(o *storage.Object) *ref { return &ref{o.Name, o.UID} }

// boundNode returns the node that the token is bound to, or nil. The node of a
// token that is bound to a pod is only information.
func (k *accountClaims) boundNode() *ref {
	if k.Pod != nil {
		return nil
	}
	return k.Node
}

// user returns the service account as a user.
func (c *claims) user() *authn.User {
	k := &c.Kubernetes
	u := &authn.User{
		Name:   authn.ServiceAccountName(k.Namespace, k.Account.Name),
		UID:    k.Account.UID,
		Groups: authn.ServiceAccountGroups(k.Namespace),
		Extra:  map[string][]string{authn.ExtraCredentialID: {"JTI=" + c.ID}},
	}
	if k.Pod != nil {
		u.Extra[authn.ExtraPodName], u.Extra[authn.ExtraPodUID] = []string{k.Pod.Name}, []string{k.Pod.UID}
	}
	if k.Node != nil {
		u.Extra[authn.ExtraNodeName] = []string{k.Node.Name}
		if k.Node.UID != "" {
			u.Extra[authn.ExtraNodeUID] = []string{k.Node.UID}
		}
	}
	return u
}

// leeway is the difference between clocks that validAt accepts.
const leeway = time.Minute

// validAt fails if the token is not valid at now.
func (c *claims) validAt(now time.Time) error {
	switch {
	case now.Add(leeway).Before(time.Unix(c.NotBefore, 0)):
		return errors.New("service account token is not valid yet")
	case now.Add(-leeway).After(time.Unix(c.Expires, 0)):
		return errors.New("service account token has expired")
	case now.Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return errors.New("service account token is issued in the future")
	}
	return nil
}

// sign returns the token with these claims.
func sign(s *signer, c *claims) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": s.algorithm, "kid": s.id})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	signature, err := s.sign(text)
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// verify returns the claims of a token. It fails if the signature is wrong. The
// claims are nil, without an error, for what is not a token of the issuers.
func (k *Keys) verify(token string) (*claims, error) {
	c, signed, signature := parse(token, k.issuers)
	if c == nil {
		return nil, nil
	}
	var head struct{ Alg, Kid string }
	b, err := base64.RawURLEncoding.DecodeString(token[:strings.IndexByte(token, '.')])
	if err != nil || json.Unmarshal(b, &head) != nil {
		return nil, nil
	}
	err = errors.New("invalid signature, no keys found")
	for _, v := range k.verifiers() {
		if head.Kid != "" && head.Kid != v.id {
			continue
		}
		if head.Alg == v.algorithm && v.verify(signed, signature) {
			return c, nil
		}
		err = errors.New("go-jose/go-jose: error in cryptographic primitive")
	}
	return nil, err
}

// parse splits a token into its claims, the text that is signed, and the
// signature. It does not check the signature. The claims are nil for what is not a
// token of one of the issuers.
func parse(token string, issuers []string) (c *claims, signed string, signature []byte) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, "", nil
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, "", nil
	}
	c = &claims{}
	if json.Unmarshal(body, c) != nil || !slices.Contains(issuers, c.Issuer) {
		return nil, "", nil
	}
	signature, err = base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, "", nil
	}
	return c, parts[0] + "." + parts[1], signature
}

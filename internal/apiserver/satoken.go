package apiserver

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/storage"
)

// issuer is who signs the tokens of service accounts, and the only audience for
// which the server takes them.
const issuer = "https://kubernetes.default.svc.cluster.local"

var apiAudiences = []string{issuer}

// A signer makes and checks the tokens of service accounts: JSON Web Tokens in
// compact form.
type signer struct {
	key *rsa.PrivateKey
	id  string
}

// signingKey is made when the first token is asked for. One serves the whole
// process: making it takes a while, and a fork has to know its parent's tokens.
var signingKey = sync.OnceValue(func() *signer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic("apiserver: no key can be made: " + err.Error()) // unreachable: the system's randomness does not fail
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		panic("apiserver: a public key does not encode: " + err.Error()) // unreachable: RSA keys do
	}
	sum := sha256.Sum256(public)
	return &signer{key, base64.RawURLEncoding.EncodeToString(sum[:])}
})

// algorithm is that of the signatures: RSASSA-PKCS1-v1_5 over SHA-256.
const algorithm = "RS256"

// claims are what a token says, in the order of their names.
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

// accountClaims are the account that a token is for, and the object it is bound
// to.
type accountClaims struct {
	Namespace string `json:"namespace"`
	Node      *ref   `json:"node,omitempty"`
	Pod       *ref   `json:"pod,omitempty"`
	Secret    *ref   `json:"secret,omitempty"`
	Account   ref    `json:"serviceaccount"`
	WarnAfter int64  `json:"warnafter,omitempty"`
}

type ref struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

func refTo(o *storage.Object) *ref { return &ref{o.Name, o.UID} }

// sign returns the token that says c.
func (s *signer) sign(c *claims) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": algorithm, "kid": s.id})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// verify returns what a token says. It is nil, without an error, for what is no
// token of the issuer's at all.
func (s *signer) verify(token string) (*claims, error) {
	c, signed, signature := split(token)
	if c == nil {
		return nil, nil
	}
	var head struct{ Alg, Kid string }
	b, err := base64.RawURLEncoding.DecodeString(token[:strings.IndexByte(token, '.')])
	if err != nil || json.Unmarshal(b, &head) != nil {
		return nil, nil
	}
	if head.Kid != "" && head.Kid != s.id {
		return nil, errors.New("invalid signature, no keys found")
	}
	sum := sha256.Sum256([]byte(signed))
	if head.Alg != algorithm || rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return nil, errors.New("go-jose/go-jose: error in cryptographic primitive")
	}
	return c, nil
}

// split reads a token without checking it; nil if it is not of the issuer's.
func split(token string) (c *claims, signed string, signature []byte) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, "", nil
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, "", nil
	}
	c = &claims{}
	if json.Unmarshal(body, c) != nil || c.Issuer != issuer {
		return nil, "", nil
	}
	signature, err = base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, "", nil
	}
	return c, parts[0] + "." + parts[1], signature
}

// jwks is the public key as a JSON Web Key Set.
func (s *signer) jwks() ([]byte, error) {
	type key struct {
		Use string `json:"use"`
		Kty string `json:"kty"`
		Kid string `json:"kid"`
		Alg string `json:"alg"`
		N   string `json:"n"`
		E   string `json:"e"`
	}
	number := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string][]key{"keys": {{
		Use: "sig", Kty: "RSA", Kid: s.id, Alg: algorithm,
		N: number(s.key.N.Bytes()), E: number(big.NewInt(int64(s.key.E)).Bytes()),
	}}})
}

// leeway is by how much clocks may differ.
const leeway = time.Minute

// validAt says what is wrong with a token at a time.
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

// accountTokens authenticates the tokens of service accounts.
type accountTokens struct{ s *Server }

// AuthenticateToken implements [authn.TokenAuthenticator].
func (a accountTokens) AuthenticateToken(token string, audiences []string) (*authn.User, []string, error) {
	s := a.s
	if c, _, _ := split(token); c == nil {
		return nil, nil, nil // not worth a key
	}
	c, err := signingKey().verify(token)
	if c == nil || err != nil {
		return nil, nil, err
	}
	meant := authn.Intersect(c.Audience, audiences)
	if len(meant) == 0 {
		return nil, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", c.Audience, audiences)
	}
	if err := c.validAt(s.clock.Now()); err != nil {
		return nil, nil, err
	}
	k := &c.Kubernetes
	account := s.newest("serviceaccounts", k.Namespace, k.Account.Name)
	switch {
	case account == nil:
		return nil, nil, fmt.Errorf("serviceaccounts %q not found", k.Account.Name)
	case account.UID != k.Account.UID:
		return nil, nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID, k.Account.UID)
	}
	for _, bound := range []struct {
		ref                       *ref
		resource, namespace, name string
	}{
		{k.Secret, "secrets", k.Namespace, "secret"},
		{k.Pod, "pods", k.Namespace, "pod"},
		{k.boundNode(), "nodes", "", "node"},
	} {
		if bound.ref == nil {
			continue
		}
		switch o := s.newest(bound.resource, bound.namespace, bound.ref.Name); {
		case o == nil:
			return nil, nil, errors.New("service account token has been invalidated")
		case o.UID != bound.ref.UID:
			return nil, nil, fmt.Errorf("%[1]s UID (%[2]s) does not match service account %[1]s ref claim (%[3]s)", bound.name, o.UID, bound.ref.UID)
		}
	}
	return c.user(), meant, nil
}

// boundNode is the node that the token is bound to. One bound to a pod only
// tells the pod's.
func (k *accountClaims) boundNode() *ref {
	if k.Pod != nil {
		return nil
	}
	return k.Node
}

// user is the service account as a user.
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

// newest is an object of the legacy group, nil if there is none.
func (s *Server) newest(resource, namespace, name string) *storage.Object {
	t := s.surface.registry.Lookup("", "v1", resource)
	if t == nil {
		return nil
	}
	return s.store.Newest(t.Key(namespace, name))
}

package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/storage"
)

// claims is the payload of a token. Its fields are in the order of their names.
type claims struct {
	Audience   audiences    `json:"aud,omitempty"`
	Expires    *numericDate `json:"exp"` // nil means never
	IssuedAt   numericDate  `json:"iat"`
	Issuer     string       `json:"iss"`
	ID         string       `json:"jti"`
	Kubernetes kubernetes   `json:"kubernetes.io"`
	NotBefore  numericDate  `json:"nbf"`
	Subject    string       `json:"sub"`
	legacyClaims
}

// audiences are those of a token, which may have a single one as a string.
type audiences []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audiences) UnmarshalJSON(b []byte) error {
	var one *string
	if json.Unmarshal(b, &one) == nil && one != nil {
		*a = audiences{*one}
		return nil
	}
	var list []*string
	if json.Unmarshal(b, &list) == nil && list != nil && !slices.Contains(list, nil) {
		*a = audiences{}
		for _, audience := range list {
			*a = append(*a, *audience)
		}
		return nil
	}
	return errors.New("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience")
}

// A numericDate is a time in seconds since 1970. Fractions of a second in a token are ignored.
type numericDate int64

// UnmarshalJSON implements [json.Unmarshaler].
func (d *numericDate) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil // as if it were absent
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return errors.New("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate")
	}
	*d = numericDate(f)
	return nil
}

func (d numericDate) time() time.Time { return time.Unix(int64(d), 0) }

// kubernetes is the claim "kubernetes.io": the service account of a token and the
// objects that the token is bound to. Error texts show its name, which is that of
// kube-apiserver's type.
type kubernetes struct {
	Attestations      map[string][]string `json:"attestations,omitempty"`
	MutatingWebhook   *ref                `json:"mutatingwebhookconfiguration,omitempty"`
	Namespace         string              `json:"namespace"`
	Node              *ref                `json:"node,omitempty"`
	Pod               *ref                `json:"pod,omitempty"`
	Secret            *ref                `json:"secret,omitempty"`
	Account           ref                 `json:"serviceaccount"`
	ValidatingWebhook *ref                `json:"validatingwebhookconfiguration,omitempty"`
	WarnAfter         numericDate         `json:"warnafter,omitempty"`
}

// A ref refers to an object.
type ref struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

func refTo(o *storage.Object) *ref { return &ref{o.Name, o.UID} }

// boundNode returns the node that the token is bound to, or nil. The node of a
// token that is bound to a pod is only information.
func (k *kubernetes) boundNode() *ref {
	if k.Pod != nil {
		return nil
	}
	return k.Node
}

func (k *kubernetes) boundToWebhook() bool {
	return k.ValidatingWebhook != nil || k.MutatingWebhook != nil
}

// user returns the service account as a user.
func (c *claims) user() *authn.User {
	k := &c.Kubernetes
	u := authn.ServiceAccount(k.Namespace, k.Account.Name, k.Account.UID)
	u.Extra = map[string][]string{}
	if c.ID != "" {
		u.Extra[authn.ExtraCredentialID] = []string{authn.CredentialID(c.ID)}
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
	if w := k.ValidatingWebhook; w != nil {
		u.Extra[authn.ExtraValidatingWebhookName], u.Extra[authn.ExtraValidatingWebhookUID] = []string{w.Name}, []string{w.UID}
	}
	if w := k.MutatingWebhook; w != nil {
		u.Extra[authn.ExtraMutatingWebhookName], u.Extra[authn.ExtraMutatingWebhookUID] = []string{w.Name}, []string{w.UID}
	}
	if k.boundToWebhook() {
		u.Extra[authn.ExtraReviewGroups] = k.Attestations[reviewGroups]
	}
	return u
}

// leeway is the difference between clocks that validAt accepts.
const leeway = time.Minute

// validAt fails if the token is not valid at now.
func (c *claims) validAt(now time.Time) error {
	switch {
	case now.Add(leeway).Before(c.NotBefore.time()):
		return errors.New("service account token is not valid yet")
	case c.Expires != nil && now.Add(-leeway).After(c.Expires.time()):
		return errors.New("service account token has expired")
	case now.Add(leeway).Before(c.IssuedAt.time()):
		return errors.New("service account token is issued in the future")
	}
	return nil
}

// sign returns the token with these claims.
func sign(s *signer, c any) (string, error) {
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

// The limits of verifiedTokens. When it is full, it is emptied.
const (
	maxVerified       = 64
	maxVerifiedLength = 4 << 10 // bytes of a token
)

// verifiedTokens has the claims of tokens whose signature was verified, because a client sends
// its token with each request. Whether a token is still valid depends on the time and on
// objects: that is checked each time. It is safe for concurrent use.
type verifiedTokens struct {
	mu     sync.RWMutex       // guards claims
	claims map[string]*claims // by token; they do not change
}

func (v *verifiedTokens) of(token string) *claims {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.claims[token]
}

func (v *verifiedTokens) add(token string, c *claims) {
	if len(token) > maxVerifiedLength {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.claims == nil || len(v.claims) >= maxVerified {
		v.claims = map[string]*claims{}
	}
	v.claims[token] = c
}

// verify returns the claims of a token, which the caller must not change. It fails if the
// signature is wrong, or a claim has a wrong type. The claims are nil, without an error,
// for what is neither a token of the issuers nor a legacy token.
func (k *Keys) verify(token string) (*claims, error) {
	if c := k.verified.of(token); c != nil {
		return c, nil
	}
	body, signed, signature := parse(token, k.config.Issuers)
	if body == nil {
		return nil, nil
	}
	var head struct {
		Alg, Kid string
		Crit     []string // names of extensions that a verifier must know
	}
	b, err := base64.RawURLEncoding.DecodeString(token[:strings.IndexByte(token, '.')])
	if err != nil || json.Unmarshal(b, &head) != nil {
		return nil, nil
	}
	err = errors.New("invalid signature, no keys found")
	for _, v := range k.verifiers() {
		if head.Kid != "" && head.Kid != v.id {
			continue
		}
		if len(head.Crit) == 0 && v.verify(head.Alg, signed, signature) {
			c, err := parseClaims(body)
			if err != nil {
				return nil, err
			}
			k.verified.add(token, c)
			return c, nil
		}
		err = errors.New("go-jose/go-jose: error in cryptographic primitive")
	}
	return nil, err
}

// parseClaims returns the claims in a body. Its errors have the text of go-jose's.
func parseClaims(body []byte) (*claims, error) {
	c := &claims{}
	err := json.Unmarshal(body, c)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil, fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", wrong.Value, wrong.Type)
	}
	return c, err
}

// parse splits a token into its claims in JSON, the text that is signed, and the
// signature. It does not check the signature. The claims are nil for what is neither a
// token of one of the issuers nor a legacy token.
func parse(token string, issuers []string) (body []byte, signed string, signature []byte) {
	head, rest, _ := strings.Cut(token, ".")
	payload, tail, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(tail, ".") {
		return nil, "", nil
	}
	body, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return nil, "", nil
	}
	var c struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(body, &c) != nil || c.Issuer != legacyIssuer && !slices.Contains(issuers, c.Issuer) {
		return nil, "", nil
	}
	signature, err = base64.RawURLEncoding.DecodeString(tail)
	if err != nil {
		return nil, "", nil
	}
	return body, token[:len(head)+len(".")+len(payload)], signature
}

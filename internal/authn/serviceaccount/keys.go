package serviceaccount

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// defaultIssuer is the issuer of the tokens of a server without a configured one.
const defaultIssuer = "https://kubernetes.default.svc.cluster.local"

// Config configures the tokens of a server. With the zero value they are issued by
// https://kubernetes.default.svc.cluster.local, for itself, and are signed with
// the key of the process.
type Config struct {
	// Issuers are the issuers whose tokens are accepted. The first one is the
	// issuer of new tokens.
	Issuers []string

	// Audiences are those of the API server; none means Issuers.
	Audiences []string

	// SigningKey signs new tokens: an *rsa.PrivateKey or an *ecdsa.PrivateKey. Nil
	// is the key of the process.
	SigningKey crypto.Signer

	// PublicKeys verify tokens: *rsa.PublicKey or *ecdsa.PublicKey. None means the
	// public half of the signing key.
	PublicKeys []crypto.PublicKey

	// MaxExpiration is how long new tokens are valid at most; 0 is no limit.
	MaxExpiration time.Duration

	// NoExtension keeps the tokens that kubelets request for Pods as short as requested: they
	// are valid for a year otherwise.
	NoExtension bool

	// KeySetURL is where clients find the keys of the tokens. The default is KeySetPath of the
	// server.
	KeySetURL string
}

// Check returns the error of kube-apiserver for values that it does not accept.
func (c *Config) Check() error {
	if most := c.MaxExpiration; most != 0 && (most < time.Hour || most > maxExpiration*time.Second) {
		return errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	switch u, err := url.Parse(c.KeySetURL); {
	case err != nil:
		return fmt.Errorf("service-account-jwks-uri must be a valid URL: %w", err)
	case c.KeySetURL != "" && u.Scheme != "https":
		return fmt.Errorf("service-account-jwks-uri requires https scheme, parsed as: %v", u)
	}
	return nil
}

// Keys sign and verify the tokens of a server. They are safe for concurrent use.
type Keys struct {
	config    Config // with Issuers and Audiences
	signer    func() *signer
	verifiers func() []*verifier
	verified  *verifiedTokens // by verifiers

	generated  bool          // signer is not configured
	restored   crypto.Signer // the key of signer, of another process; nil for that of this one
	configured bool          // verifiers are
}

// NewKeys returns the keys of a configuration.
func NewKeys(c Config) *Keys {
	if len(c.Issuers) == 0 {
		c.Issuers = []string{defaultIssuer}
	}
	if len(c.Audiences) == 0 {
		c.Audiences = c.Issuers
	}
	k := &Keys{config: c, signer: processKey, verified: &verifiedTokens{}}
	if c.SigningKey != nil {
		k.signer = sync.OnceValue(func() *signer { return newSigner(c.SigningKey) })
	}
	k.generated, k.configured = c.SigningKey == nil, len(c.PublicKeys) > 0
	k.verifiers = sync.OnceValue(func() []*verifier {
		if !k.configured {
			return []*verifier{&k.signer().verifier}
		}
		var out []*verifier
		for _, key := range c.PublicKeys {
			out = append(out, newVerifier(key))
		}
		return out
	})
	return k
}

// Audiences returns the audiences of the API server. The slice must not be changed.
func (k *Keys) Audiences() []string { return k.config.Audiences }

// GeneratedKey returns the key that signs tokens in PKCS #8; nil if it is configured, or
// not generated yet.
func (k *Keys) GeneratedKey() []byte {
	if !k.generated || !processKeyExists.Load() && k.restored == nil {
		return nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.signer().private)
	if err != nil {
		return nil // unreachable: the key is an RSA key
	}
	return der
}

// WithGeneratedKey returns keys that sign with a key of GeneratedKey of another process,
// unless a key is configured.
func (k *Keys) WithGeneratedKey(key crypto.Signer) *Keys {
	if !k.generated {
		return k
	}
	out := *k
	out.restored, out.verified = key, &verifiedTokens{}
	out.signer = sync.OnceValue(func() *signer { return newSigner(key) })
	if !k.configured {
		out.verifiers = sync.OnceValue(func() []*verifier { return []*verifier{&out.signer().verifier} })
	}
	return &out
}

// ParsePKCS8 parses a key of GeneratedKey.
func ParsePKCS8(der []byte) (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an RSA key")
	}
	return signer, nil
}

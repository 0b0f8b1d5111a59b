package serviceaccount

import (
	"crypto"
	"sync"
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
}

// Keys sign and verify the tokens of a server. They are safe for concurrent use.
type Keys struct {
	issuers   []string // the first one issues
	audiences []string
	signer    func() *signer
	verifiers func() []*verifier
}

// NewKeys returns the keys of a configuration.
func NewKeys(c Config) *Keys {
	k := &Keys{issuers: c.Issuers, audiences: c.Audiences, signer: processKey}
	if len(k.issuers) == 0 {
		k.issuers = []string{defaultIssuer}
	}
	if len(k.audiences) == 0 {
		k.audiences = k.issuers
	}
	if c.SigningKey != nil {
		k.signer = sync.OnceValue(func() *signer { return newSigner(c.SigningKey) })
	}
	k.verifiers = sync.OnceValue(func() []*verifier {
		if len(c.PublicKeys) == 0 {
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
func (k *Keys) Audiences() []string { return k.audiences }

package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// CAs are CA certificates that may be replaced while they are in use. They are safe for
// concurrent use.
type CAs struct {
	pool atomic.Pointer[x509.CertPool]

	mu       sync.Mutex                           // guards verified
	verified map[*x509.Certificate]*verifiedChain // by the certificate of the client
}

// NewCAs returns the CAs of a pool, which must not change.
func NewCAs(pool *x509.CertPool) *CAs {
	c := &CAs{}
	c.Replace(pool)
	return c
}

// Replace replaces the CAs by those of a pool, which must not change.
func (c *CAs) Replace(pool *x509.CertPool) { c.pool.Store(pool) }

// maxVerified is the number of chains that are not verified again while they are valid, and of
// tokens of users. When there are more, all are forgotten.
const maxVerified = 64

// A verifiedChain is a chain of certificates that leads to a CA. The requests of a connection
// have the same one, and to verify it takes longer than the rest of a get.
type verifiedChain struct {
	sent        []*x509.Certificate // by the client
	roots       *x509.CertPool
	from, until time.Time // when it is valid, inclusive
}

// isFor reports whether verifying a chain at now has the same result.
func (v *verifiedChain) isFor(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) bool {
	return v != nil && v.roots == roots && !now.Before(v.from) && !now.After(v.until) && slices.Equal(v.sent, chain)
}

// verify checks that a chain of certificates, which starts with the one of the client, leads to
// one of the CAs and is valid at now.
func (c *CAs) verify(chain []*x509.Certificate, now time.Time) error {
	roots := c.pool.Load()
	c.mu.Lock()
	known := c.verified[chain[0]]
	c.mu.Unlock()
	if known.isFor(chain, roots, now) {
		return nil
	}
	options := x509.VerifyOptions{
		Roots:         roots,
		Intermediates: x509.NewCertPool(),
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, intermediate := range chain[1:] {
		options.Intermediates.AddCert(intermediate)
	}
	valid, err := chain[0].Verify(options)
	if err != nil {
		return err
	}
	v := &verifiedChain{sent: chain, roots: roots}
	v.from = slices.MaxFunc(valid[0], func(a, b *x509.Certificate) int { return a.NotBefore.Compare(b.NotBefore) }).NotBefore
	v.until = slices.MinFunc(valid[0], func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }).NotAfter
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verified == nil || len(c.verified) >= maxVerified {
		c.verified = map[*x509.Certificate]*verifiedChain{}
	}
	c.verified[chain[0]] = v
	return nil
}

// certificateUser returns the user of a chain of certificates: the common name is
// the name of the user, and the organizations are the groups. The user is nil
// without a chain and without a common name. It fails if the chain is not valid.
func (a *Authenticator) certificateUser(chain []*x509.Certificate) (*User, error) {
	if a.ClientCAs == nil || len(chain) == 0 {
		return nil, nil
	}
	if err := a.ClientCAs.verify(chain, a.Now()); err != nil {
		return nil, err
	}
	c := chain[0]
	if c.Subject.CommonName == "" {
		return nil, nil
	}
	uid, err := uidOf(c)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(c.Raw)
	return &User{
		Name:   c.Subject.CommonName,
		UID:    uid,
		Groups: slices.Clone(c.Subject.Organization),
		Extra:  map[string][]string{ExtraCredentialID: {"X509SHA256=" + hex.EncodeToString(hash[:])}},
	}, nil
}

// uidAttribute is the attribute of a subject that holds the UID of the user.
// See KEP-4747 and k8s.io/apimachinery/pkg/apis/asn1.
var uidAttribute = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// uidOf returns the UID in the subject of a certificate, "" if it has none.
func uidOf(c *x509.Certificate) (string, error) {
	var uids []string
	for _, attribute := range c.Subject.Names {
		if !attribute.Type.Equal(uidAttribute) {
			continue
		}
		uid, ok := attribute.Value.(string)
		if !ok {
			return "", errors.New("the UID in the subject of the certificate is not a string")
		}
		uids = append(uids, uid)
	}
	switch {
	case len(uids) == 0:
		return "", nil
	case len(uids) > 1:
		return "", fmt.Errorf("the subject of the certificate has %d UIDs", len(uids))
	case uids[0] == "":
		return "", errors.New("the UID in the subject of the certificate is empty")
	}
	return uids[0], nil
}

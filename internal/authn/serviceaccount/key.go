package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn/jwt"
)

// A verifier is a public key that verifies the signatures of tokens.
type verifier struct {
	key       crypto.PublicKey
	id        string // "kid" of the key: a hash of its PKIX encoding
	algorithm string // with which the key signs, as in RFC 7518, section 3.1
	hash      crypto.Hash
}

// newVerifier returns the verifier of an RSA or ECDSA key.
func newVerifier(key crypto.PublicKey) *verifier {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic("serviceaccount: cannot encode a public key: " + err.Error()) // unreachable: RSA and ECDSA keys have an encoding
	}
	sum := sha256.Sum256(der)
	v := &verifier{key: key, id: base64.RawURLEncoding.EncodeToString(sum[:]), algorithm: "RS256", hash: crypto.SHA256}
	if key, ok := key.(*ecdsa.PublicKey); ok {
		switch key.Curve.Params().BitSize {
		case 256:
			v.algorithm = "ES256"
		case 384:
			v.algorithm, v.hash = "ES384", crypto.SHA384
		default:
			v.algorithm, v.hash = "ES512", crypto.SHA512
		}
	}
	return v
}

func (v *verifier) digest(text string) []byte {
	h := v.hash.New()
	h.Write([]byte(text))
	return h.Sum(nil)
}

// verify reports whether signature is one of text by this key, with any algorithm of its type.
func (v *verifier) verify(algorithm, text string, signature []byte) bool {
	return jwt.Verify(algorithm, v.key, text, signature)
}

// coordinateSize returns the size in bytes of each of the two numbers of a
// signature.
func coordinateSize(key *ecdsa.PublicKey) int { return (key.Curve.Params().BitSize + 7) / 8 }

// A signer is a private key that signs tokens.
type signer struct {
	verifier
	private crypto.Signer
}

func newSigner(private crypto.Signer) *signer {
	return &signer{*newVerifier(private.Public()), private}
}

// processKey returns the key of servers without a configured one. Its first call
// generates the key, which takes up to some hundred milliseconds.
var processKey = sync.OnceValue(func() *signer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic("serviceaccount: cannot generate a key: " + err.Error()) // unreachable: the system's randomness does not fail
	}
	processKeyExists.Store(true)
	return newSigner(key)
})

// processKeyExists reports whether processKey has generated the key.
var processKeyExists atomic.Bool

// sign returns the signature of text.
func (s *signer) sign(text string) ([]byte, error) {
	digest := s.digest(text)
	key, ok := s.private.(*ecdsa.PrivateKey)
	if !ok {
		return s.private.Sign(nil, digest, s.hash) // PKCS #1 v1.5, which needs no randomness
	}
	r, t, err := ecdsa.Sign(rand.Reader, key, digest)
	if err != nil {
		return nil, err
	}
	size := coordinateSize(&key.PublicKey)
	signature := make([]byte, 2*size)
	r.FillBytes(signature[:size])
	t.FillBytes(signature[size:])
	return signature, nil
}

// ParsePrivateKey returns the first private key in a PEM file. Its encoding is
// PKCS #8, PKCS #1 or SEC 1.
func ParsePrivateKey(text []byte) (crypto.Signer, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if key := privateKey(block); key != nil {
			return key, nil
		}
	}
	return nil, errors.New("data does not contain a valid RSA or ECDSA private key")
}

// ParsePublicKeys returns the public keys in a PEM file. A private key and a
// certificate count as their public keys.
func ParsePublicKeys(text []byte) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if key := privateKey(block); key != nil {
			keys = append(keys, key.Public())
			continue
		}
		key, err := publicKey(block)
		if err != nil {
			return nil, err
		}
		if key != nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("data does not contain any valid RSA or ECDSA public keys")
	}
	return keys, nil
}

// privateKey returns the private key in a block, nil if it holds something else.
func privateKey(block *pem.Block) crypto.Signer {
	var key any
	switch block.Type {
	case "PRIVATE KEY":
		key, _ = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, _ = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, _ = x509.ParseECPrivateKey(block.Bytes)
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key
	case *ecdsa.PrivateKey:
		return key
	}
	return nil
}

// publicKey returns the public key in a block, nil if it holds something else.
func publicKey(block *pem.Block) (crypto.PublicKey, error) {
	var key any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = c.PublicKey
		}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch key.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey:
		return key, nil
	}
	return nil, fmt.Errorf("%T is neither an RSA nor an ECDSA key", key)
}

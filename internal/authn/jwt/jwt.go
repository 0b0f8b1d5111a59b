// Package jwt parses JSON Web Tokens and verifies their signatures. It supports RSA and
// ECDSA keys.
//
// See RFC 7515, RFC 7517 and RFC 7518.
package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // for RS256 and the like
	_ "crypto/sha512" // for RS384, RS512 and the like
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// An algorithm is a signature algorithm of RFC 7518, section 3.1.
type algorithm struct {
	hash  crypto.Hash
	pss   bool
	curve elliptic.Curve // nil for RSA
}

var algorithms = map[string]algorithm{
	"RS256": {hash: crypto.SHA256},
	"RS384": {hash: crypto.SHA384},
	"RS512": {hash: crypto.SHA512},
	"PS256": {hash: crypto.SHA256, pss: true},
	"PS384": {hash: crypto.SHA384, pss: true},
	"PS512": {hash: crypto.SHA512, pss: true},
	"ES256": {hash: crypto.SHA256, curve: elliptic.P256()},
	"ES384": {hash: crypto.SHA384, curve: elliptic.P384()},
	"ES512": {hash: crypto.SHA512, curve: elliptic.P521()},
}

// Algorithms returns the names of the supported algorithms in sorted order.
func Algorithms() []string {
	var names []string
	for name := range algorithms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Verify reports whether signature is one of text by a key with an algorithm. The key is
// an *rsa.PublicKey or an *ecdsa.PublicKey. It is false for an unknown algorithm and for
// a key of another type than the algorithm needs.
func Verify(name string, key crypto.PublicKey, text string, signature []byte) bool {
	a, ok := algorithms[name]
	if !ok {
		return false
	}
	h := a.hash.New()
	h.Write([]byte(text))
	digest := h.Sum(nil)
	switch key := key.(type) {
	case *rsa.PublicKey:
		switch {
		case a.curve != nil:
			return false
		case a.pss:
			return rsa.VerifyPSS(key, a.hash, digest, signature, nil) == nil
		}
		return rsa.VerifyPKCS1v15(key, a.hash, digest, signature) == nil
	case *ecdsa.PublicKey:
		size := (key.Curve.Params().BitSize + 7) / 8
		if key.Curve != a.curve || len(signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
		return ecdsa.Verify(key, digest, r, s)
	}
	return false
}

// A Token is a parsed token, whose signature is not verified.
type Token struct {
	Algorithm, KeyID string
	Payload          []byte // the claims in JSON
	Signed           string // the text that is signed
	Signature        []byte
}

// Parse parses a token in compact serialization.
func Parse(text string) (*Token, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("malformed jwt: %d parts instead of 3", len(parts))
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return nil, fmt.Errorf("malformed jwt: %w", err)
		}
	}
	var head struct {
		Alg, Kid string
		Crit     []string
	}
	if err := json.Unmarshal(decoded[0], &head); err != nil {
		return nil, fmt.Errorf("malformed jwt: %w", err)
	}
	if len(head.Crit) > 0 {
		return nil, errors.New("malformed jwt: unsupported crit header")
	}
	return &Token{head.Alg, head.Kid, decoded[1], parts[0] + "." + parts[1], decoded[2]}, nil
}

// A Key is a public key of a JSON Web Key Set.
type Key struct {
	ID     string // "" without one
	Public crypto.PublicKey
}

// Verify reports whether the key has signed the token.
func (k Key) Verify(t *Token) bool { return Verify(t.Algorithm, k.Public, t.Signed, t.Signature) }

// webKey is a JSON Web Key. See RFC 7518, section 6.
type webKey struct {
	Kty, Kid, Crv, N, E, X, Y, K string
}

// ParseKeySet returns the RSA and ECDSA keys of a JSON Web Key Set. It ignores keys of
// the types oct and OKP, and fails for other types.
func ParseKeySet(text []byte) ([]Key, error) {
	var set struct{ Keys []webKey }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	var keys []Key
	for _, k := range set.Keys {
		public, err := k.public()
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", k.Kid, err)
		}
		if public != nil {
			keys = append(keys, Key{k.Kid, public})
		}
	}
	return keys, nil
}

var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

// public returns the key, nil for one of an unsupported type.
func (k webKey) public() (crypto.PublicKey, error) {
	switch k.Kty {
	case "RSA":
		n, err := number(k.N)
		if err != nil {
			return nil, err
		}
		e, err := number(k.E)
		if err != nil {
			return nil, err
		}
		if n.Sign() == 0 || !e.IsInt64() || e.Int64() < 2 || e.Int64() > 1<<31-1 {
			return nil, errors.New("invalid RSA key")
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
	case "EC":
		curve := curves[k.Crv]
		if curve == nil {
			return nil, fmt.Errorf("unsupported elliptic curve %q", k.Crv)
		}
		x, err := number(k.X)
		if err != nil {
			return nil, err
		}
		y, err := number(k.Y)
		if err != nil {
			return nil, err
		}
		key := &ecdsa.PublicKey{Curve: curve, X: x, Y: y}
		if _, err := key.ECDH(); err != nil { // the point is not on the curve
			return nil, errors.New("invalid EC key")
		}
		return key, nil
	case "oct":
		if k.K == "" {
			return nil, errors.New("invalid OCT (symmetric) key, missing k value")
		}
		return nil, nil
	case "OKP":
		return nil, nil
	}
	return nil, fmt.Errorf("unknown json web key type '%s'", k.Kty)
}

func number(text string) (*big.Int, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(b), err
}

package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	const text = "head.payload"
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	ec := map[string]*ecdsa.PrivateKey{}
	for name, curve := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		ec[name], err = ecdsa.GenerateKey(curve, rand.Reader)
		require.NoError(t, err)
	}
	for _, name := range Algorithms() {
		t.Run(name, func(t *testing.T) {
			a := algorithms[name]
			h := a.hash.New()
			h.Write([]byte(text))
			var public crypto.PublicKey = &key.PublicKey
			var signature []byte
			switch {
			case a.curve != nil:
				private := ec[name]
				public = &private.PublicKey
				size := (a.curve.Params().BitSize + 7) / 8
				r, s, err := ecdsa.Sign(rand.Reader, private, h.Sum(nil))
				require.NoError(t, err)
				signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
			case a.pss:
				signature, err = rsa.SignPSS(rand.Reader, key, a.hash, h.Sum(nil), nil)
				require.NoError(t, err)
			default:
				signature, err = rsa.SignPKCS1v15(nil, key, a.hash, h.Sum(nil))
				require.NoError(t, err)
			}
			assert.True(t, Verify(name, public, text, signature))
			assert.False(t, Verify(name, public, text+"x", signature), "another text")
			assert.False(t, Verify(name, public, text, signature[1:]), "a part of the signature")
			for _, other := range Algorithms() {
				assert.Equal(t, other == name, Verify(other, public, text, signature), other)
			}
			assert.False(t, Verify("none", public, text, signature))
			assert.False(t, Verify("HS256", public, text, signature))
		})
	}
}

func TestParse(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for _, tt := range []struct{ name, text, want string }{
		{"two parts", "a.b", "malformed jwt: 2 parts instead of 3"},
		{"no base64", "a.!.c", "malformed jwt: illegal base64 data"},
		{"no header", encode([]byte("x")) + "..", "malformed jwt: invalid character"},
		{"critical header", encode([]byte(`{"alg":"RS256","crit":["b64"]}`)) + "..", "malformed jwt: unsupported crit header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.text)
			assert.ErrorContains(t, err, tt.want)
		})
	}
	token, err := Parse(encode([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + encode([]byte(`{}`)) + "." + encode([]byte("s")))
	require.NoError(t, err)
	assert.Equal(t, &Token{Algorithm: "RS256", KeyID: "k", Payload: []byte("{}"), Signed: token.Signed, Signature: []byte("s")}, token)
}

func TestParseKeySet(t *testing.T) {
	for _, tt := range []struct{ name, key, want string }{
		{"symmetric", `{"kty":"oct","k":"AA"}`, ""},
		{"symmetric without a key", `{"kty":"oct"}`, "invalid OCT (symmetric) key, missing k value"},
		{"Ed25519", `{"kty":"OKP","crv":"Ed25519","x":"AA"}`, ""},
		{"unknown type", `{"kty":"XX"}`, "unknown json web key type 'XX'"},
		{"RSA without a modulus", `{"kty":"RSA","e":"AQAB"}`, "invalid RSA key"},
		{"RSA with a large exponent", `{"kty":"RSA","n":"AQAB","e":"AQAAAAAAAAAAAA"}`, "invalid RSA key"},
		{"unknown curve", `{"kty":"EC","crv":"P-1"}`, `unsupported elliptic curve "P-1"`},
		{"not on the curve", `{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}`, "invalid EC key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := ParseKeySet([]byte(`{"keys":[` + tt.key + `]}`))
			assert.Empty(t, keys)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func encodePEM(kind string) func(der []byte, err error) []byte {
	return func(der []byte, err error) []byte {
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
}

func TestConfiguredKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	newECDSA := func(c elliptic.Curve) *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		require.NoError(t, err)
		return key
	}
	p256, p384, p521 := newECDSA(elliptic.P256()), newECDSA(elliptic.P384()), newECDSA(elliptic.P521())
	for _, tt := range []struct {
		name                  string
		private, public       []byte // in PEM
		algorithm, kty, curve string
	}{
		{"RSA", encodePEM("PRIVATE KEY")(x509.MarshalPKCS8PrivateKey(rsaKey)), encodePEM("PUBLIC KEY")(x509.MarshalPKIXPublicKey(rsaKey.Public())), "RS256", "RSA", ""},
		{"RSA, PKCS #1", encodePEM("RSA PRIVATE KEY")(x509.MarshalPKCS1PrivateKey(rsaKey), nil), encodePEM("RSA PUBLIC KEY")(x509.MarshalPKCS1PublicKey(&rsaKey.PublicKey), nil), "RS256", "RSA", ""},
		{"P-256", encodePEM("EC PRIVATE KEY")(x509.MarshalECPrivateKey(p256)), encodePEM("PUBLIC KEY")(x509.MarshalPKIXPublicKey(p256.Public())), "ES256", "EC", "P-256"},
		{"P-384", encodePEM("PRIVATE KEY")(x509.MarshalPKCS8PrivateKey(p384)), encodePEM("EC PRIVATE KEY")(x509.MarshalECPrivateKey(p384)), "ES384", "EC", "P-384"},
		{"P-521", encodePEM("EC PRIVATE KEY")(x509.MarshalECPrivateKey(p521)), encodePEM("PUBLIC KEY")(x509.MarshalPKIXPublicKey(p521.Public())), "ES512", "EC", "P-521"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signing, err := ParsePrivateKey(tt.private)
			require.NoError(t, err)
			public, err := ParsePublicKeys(tt.public)
			require.NoError(t, err)
			keys := NewKeys(Config{Issuers: []string{"https://new", "https://old"}, Audiences: []string{"api"}, SigningKey: signing, PublicKeys: public})
			assert.Equal(t, []string{"api"}, keys.Audiences())

			for _, issuer := range []string{"https://new", "https://old"} {
				token, err := sign(keys.signer(), &claims{Issuer: issuer, ID: "id"})
				require.NoError(t, err)
				got, err := keys.verify(token)
				require.NoError(t, err)
				assert.Equal(t, "id", got.ID)

				got, err = NewKeys(Config{Issuers: []string{issuer}}).verify(token)
				assert.Nil(t, got)
				assert.EqualError(t, err, "invalid signature, no keys found", "another key")
			}

			text, err := keys.KeySet()
			require.NoError(t, err)
			var set struct{ Keys []webKey }
			require.NoError(t, json.Unmarshal(text, &set))
			require.Len(t, set.Keys, 1)
			assert.Equal(t, []string{tt.algorithm, tt.kty, tt.curve}, []string{set.Keys[0].Alg, set.Keys[0].Kty, set.Keys[0].Crv})
		})
	}
}

func TestVerifyOfTruncatedSignature(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	s := newSigner(key)
	signature, err := s.sign("text")
	require.NoError(t, err)
	assert.True(t, s.verify(s.algorithm, "text", signature))
	assert.False(t, s.verify(s.algorithm, "text", signature[:63]))
	assert.False(t, s.verify(s.algorithm, "text", nil))
	assert.False(t, s.verify(s.algorithm, "other", signature))
}

func TestParseKeysErrors(t *testing.T) {
	for _, text := range []string{"", "text", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		_, err := ParsePrivateKey([]byte(text))
		assert.EqualError(t, err, "data does not contain a valid RSA or ECDSA private key", text)
		_, err = ParsePublicKeys([]byte(text))
		assert.EqualError(t, err, "data does not contain any valid RSA or ECDSA public keys", text)
	}
	_, err := ParsePublicKeys(encodePEM("PUBLIC KEY")([]byte("x"), nil))
	assert.Error(t, err)
	both := append(encodePEM("RSA PUBLIC KEY")(x509.MarshalPKCS1PublicKey(processKey().key.(*rsa.PublicKey)), nil), encodePEM("PUBLIC KEY")(x509.MarshalPKIXPublicKey(processKey().key))...)
	keys, err := ParsePublicKeys(both)
	require.NoError(t, err)
	assert.Equal(t, []crypto.PublicKey{processKey().key, processKey().key}, keys)
}

func TestConfigCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config Config
		err    string
	}{
		{"default", Config{}, ""},
		{"short tokens", Config{MaxExpiration: time.Hour}, ""},
		{"tokens that are too short", Config{MaxExpiration: time.Hour - 1}, "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"},
		{"tokens that are too long", Config{MaxExpiration: 1<<32*time.Second + 1}, "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"},
		{"keys elsewhere", Config{KeySetURL: "https://keys.example/jwks"}, ""},
		{"keys without TLS", Config{KeySetURL: "http://keys.example/jwks"}, "service-account-jwks-uri requires https scheme, parsed as: http://keys.example/jwks"},
		{"keys at no URL", Config{KeySetURL: ":"}, `service-account-jwks-uri must be a valid URL: parse ":": missing protocol scheme`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.config.Check(); tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

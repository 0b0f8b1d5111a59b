package serviceaccount

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
)

func TestVerify(t *testing.T) {
	signed, err := sign(processKey(), &claims{Issuer: defaultIssuer, ID: "id", Kubernetes: kubernetes{Namespace: "ns"}})
	require.NoError(t, err)
	got, err := NewKeys(Config{}).verify(signed)
	require.NoError(t, err)
	assert.Equal(t, "ns", got.Kubernetes.Namespace)

	foreign, err := sign(processKey(), &claims{Issuer: "https://elsewhere"})
	require.NoError(t, err)
	part := strings.Split(signed, ".")
	encode := base64.RawURLEncoding.EncodeToString
	for _, tt := range []struct{ name, token, err string }{
		{"not a token", "abc", ""},
		{"two parts", part[0] + "." + part[1], ""},
		{"header is not base64", "%." + part[1] + "." + part[2], ""},
		{"other issuer", foreign, ""},
		{"other key", encode([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + part[1] + "." + part[2], "invalid signature, no keys found"},
		{"other algorithm", encode([]byte(`{"alg":"none"}`)) + "." + part[1] + "." + part[2], "go-jose/go-jose: error in cryptographic primitive"},
		{"other claims", part[0] + "." + encode([]byte(`{"iss":"`+defaultIssuer+`"}`)) + "." + part[2], "go-jose/go-jose: error in cryptographic primitive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := NewKeys(Config{}).verify(tt.token)
			assert.Nil(t, c)
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

// TestVerifyAgain verifies more tokens than are kept, each of them several times, and a token
// with the claims of a kept one and another signature.
func TestVerifyAgain(t *testing.T) {
	keys := NewKeys(Config{})
	var tokens []string
	for i := range maxVerified + 2 {
		token, err := sign(processKey(), &claims{Issuer: defaultIssuer, ID: strconv.Itoa(i)})
		require.NoError(t, err)
		tokens = append(tokens, token)
	}
	for range 2 {
		for i, token := range tokens {
			for range 2 {
				got, err := keys.verify(token)
				require.NoError(t, err)
				assert.Equal(t, strconv.Itoa(i), got.ID)
			}
			forged, err := keys.verify(token[:strings.LastIndexByte(token, '.')] + ".AAAA")
			assert.Nil(t, forged)
			assert.Error(t, err)
			assert.LessOrEqual(t, len(keys.verified.claims), maxVerified)
		}
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	restored := keys.WithGeneratedKey(other)
	got, err := restored.verify(tokens[len(tokens)-1])
	assert.Nil(t, got, "the key is another one")
	assert.Error(t, err)
}

func BenchmarkVerify(b *testing.B) {
	token, err := sign(processKey(), &claims{Issuer: defaultIssuer, ID: "id"})
	require.NoError(b, err)
	keys := NewKeys(Config{})
	for range b.N {
		if c, err := keys.verify(token); c == nil || err != nil {
			b.Fatal(err)
		}
	}
}

func TestValidAt(t *testing.T) {
	expires := numericDate(2000)
	c := &claims{IssuedAt: 1000, NotBefore: 1000, Expires: &expires}
	for _, tt := range []struct {
		name string
		at   int64
		err  string
	}{
		{"first second", 940, ""},
		{"too early", 939, "service account token is not valid yet"},
		{"last second", 2060, ""},
		{"expired", 2061, "service account token has expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := c.validAt(time.Unix(tt.at, 0))
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

// Other signers leave out claims, and write them in other forms, than TokenRequests have.
func TestClaimForms(t *testing.T) {
	for _, tt := range []struct {
		name, claims string
		audiences    audiences
		err          string
	}{
		{"list of audiences", `"aud":["a","b"],"exp":2000`, audiences{"a", "b"}, ""},
		{"one audience", `"aud":"a","exp":2000`, audiences{"a"}, ""},
		{"no audience", `"exp":2000`, nil, ""},
		{"no expiration", `"aud":["a"]`, audiences{"a"}, ""},
		{"expiration with a fraction", `"exp":1.9999e3,"nbf":1000.5`, nil, ""},
		{"times that are null", `"exp":null,"nbf":null,"iat":null`, nil, ""},
		{"claim that is a list", `"kubernetes.io":[]`, nil, "json: cannot unmarshal array into Go value of type serviceaccount.kubernetes"},
		{"subject that is a number", `"sub":5`, nil, "json: cannot unmarshal number into Go value of type string"},
		{"expired at the epoch", `"exp":0`, nil, "service account token has expired"},
		{"audience that is a number", `"aud":5`, nil, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"},
		{"audience that is null", `"aud":null`, nil, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"},
		{"audience of numbers", `"aud":[5]`, nil, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"},
		{"audience with null", `"aud":["a",null]`, nil, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"},
		{"empty audience", `"aud":[]`, audiences{}, ""},
		{"time that is a string", `"exp":"2000"`, nil, "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := processKey()
			text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"`+key.algorithm+`"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+defaultIssuer+`",`+tt.claims+`}`))
			signature, err := key.sign(text)
			require.NoError(t, err)
			c, err := NewKeys(Config{}).verify(text + "." + base64.RawURLEncoding.EncodeToString(signature))
			if c != nil {
				assert.Equal(t, tt.audiences, c.Audience)
				err = c.validAt(time.Unix(1500, 0))
			}
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

func TestUserOfClaims(t *testing.T) {
	c := &claims{ID: "id", Kubernetes: kubernetes{
		Namespace: "ns", Account: ref{"a", "u"}, Pod: &ref{"p", "pu"}, Node: &ref{"n", ""},
	}}
	assert.Equal(t, &authn.User{
		Name: "system:serviceaccount:ns:a", UID: "u",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"},
		Extra: map[string][]string{
			authn.ExtraCredentialID: {"JTI=id"},
			authn.ExtraPodName:      {"p"}, authn.ExtraPodUID: {"pu"}, authn.ExtraNodeName: {"n"},
		},
	}, c.user())
	assert.Nil(t, c.Kubernetes.boundNode(), "a token of a pod is not bound to its node")
}

func TestOpenIDDocuments(t *testing.T) {
	doc, err := NewKeys(Config{}).OpenIDConfiguration("localhost:6443")
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"issuer":"https://kubernetes.default.svc.cluster.local","jwks_uri":"https://localhost:6443/openid/v1/jwks",
		"response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}`, string(doc))

	doc, err = NewKeys(Config{KeySetURL: "https://keys.example/jwks"}).OpenIDConfiguration("localhost:6443")
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"jwks_uri":"https://keys.example/jwks"`)

	doc, err = NewKeys(Config{}).KeySet()
	require.NoError(t, err)
	var set struct{ Keys []map[string]string }
	require.NoError(t, json.Unmarshal(doc, &set))
	require.Len(t, set.Keys, 1)
	assert.Equal(t, processKey().id, set.Keys[0]["kid"])
	assert.Equal(t, "AQAB", set.Keys[0]["e"])
}

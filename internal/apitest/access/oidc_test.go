//go:build go1.24

package access_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
)

// An issuer is an OpenID Connect issuer with an RSA and an ECDSA key.
type issuer struct {
	*httptest.Server
	rsa     *rsa.PrivateKey
	ecdsa   *ecdsa.PrivateKey
	down    atomic.Bool // documents fail with 503
	fetched atomic.Int64
	hang    chan struct{} // if not nil, documents wait until it is closed
}

func newIssuer(t testing.TB) *issuer {
	i := &issuer{}
	var err error
	i.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i.ecdsa, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.fetched.Add(1)
		if i.hang != nil {
			<-i.hang
		}
		if i.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		number := base64.RawURLEncoding.EncodeToString
		switch r.URL.Path {
		case "/.well-known/openid-configuration", "/elsewhere":
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
		case "/keys":
			fmt.Fprintf(w, `{"keys":[{"kty":"RSA","kid":"r","n":%q,"e":"AQAB"},{"kty":"EC","kid":"e","crv":"P-256","x":%q,"y":%q},{"kty":"oct","kid":"o","k":"AA"}]}`,
				number(i.rsa.N.Bytes()), number(i.ecdsa.X.FillBytes(make([]byte, 32))), number(i.ecdsa.Y.FillBytes(make([]byte, 32))))
		case "/groups":
			if r.Header.Get("Authorization") == "Bearer access" {
				fmt.Fprint(w, i.token("RS256", map[string]any{"groups": []string{"far"}}))
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// ca returns the certificate of the issuer in PEM.
func (i *issuer) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

// issued is the time of the server's clock in these tests.
var issued = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// token returns a signed token with the claims, beside those that every token has.
func (i *issuer) token(algorithm string, claims map[string]any) string {
	all := map[string]any{"iss": i.URL, "aud": "me", "sub": "jane", "exp": issued.Add(time.Hour).Unix()}
	for name, value := range claims {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	head, body := map[string]string{"alg": algorithm, "kid": strings.ToLower(algorithm[:1])}, must(json.Marshal(all))
	if algorithm[0] == 'P' {
		head["kid"] = "r"
	}
	text := base64.RawURLEncoding.EncodeToString(must(json.Marshal(head))) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	var signature []byte
	switch algorithm {
	case "RS256":
		signature = must(rsa.SignPKCS1v15(nil, i.rsa, crypto.SHA256, sum[:]))
	case "PS256":
		signature = must(rsa.SignPSS(rand.Reader, i.rsa, crypto.SHA256, sum[:], nil))
	case "ES256":
		r, s, err := ecdsa.Sign(rand.Reader, i.ecdsa, sum[:])
		must(r, err)
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// userOf returns the user of a request with a token, in JSON without kind and metadata,
// or the status code of a failure.
func userOf(t *testing.T, srv *fakeapi.Server, token string) string {
	t.Helper()
	const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(`{}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Sprint(resp.StatusCode)
	}
	var answer struct {
		Status struct{ UserInfo map[string]any }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	return string(must(json.Marshal(answer.Status.UserInfo)))
}

// reviewError returns the error of a TokenReview.
func reviewError(t *testing.T, srv *fakeapi.Server, token string) string {
	t.Helper()
	body := must(json.Marshal(map[string]any{"spec": map[string]any{"token": token}}))
	resp, err := srv.Client().Post(srv.URL+"/apis/authentication.k8s.io/v1/tokenreviews", "application/json", strings.NewReader(string(body)))
	require.NoError(t, err)
	defer resp.Body.Close()
	var review struct{ Status struct{ Error string } }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&review))
	return review.Status.Error
}

func user(name string, groups ...string) string {
	return string(must(json.Marshal(map[string]any{"username": name, "groups": append(groups, "system:authenticated")})))
}

func TestOIDC(t *testing.T) {
	idp := newIssuer(t)
	other := newIssuer(t)
	type claims = map[string]any
	flags := func(change func(*apiserver.OIDC)) apiserver.Authentication {
		o := &apiserver.OIDC{IssuerURL: idp.URL, ClientID: "me", CA: idp.ca(), UsernamePrefix: "-"}
		if change != nil {
			change(o)
		}
		return apiserver.Authentication{OIDC: o}
	}
	for _, tt := range []struct {
		name  string
		auth  apiserver.Authentication
		token string
		want  string // the user or the status code
		error string // of a TokenReview
	}{
		{"the claim sub", flags(nil), idp.token("RS256", nil), user("jane"), ""},
		{"the default prefix", flags(func(o *apiserver.OIDC) { o.UsernamePrefix = "" }), idp.token("RS256", nil), user(idp.URL + "#jane"), ""},
		{"a prefix", flags(func(o *apiserver.OIDC) { o.UsernamePrefix = "oidc:" }), idp.token("RS256", nil), user("oidc:jane"), ""},
		{"email has no default prefix", flags(func(o *apiserver.OIDC) { o.UsernameClaim, o.UsernamePrefix = "email", "" }), idp.token("RS256", claims{"email": "j@example.com"}), user("j@example.com"), ""},
		{"email is not verified", flags(func(o *apiserver.OIDC) { o.UsernameClaim = "email" }), idp.token("RS256", claims{"email": "j@example.com", "email_verified": false}), "401", "oidc: email not verified"},
		{"no claim of the name", flags(func(o *apiserver.OIDC) { o.UsernameClaim = "name" }), idp.token("RS256", nil), "401", `oidc: parse username claims "name": claim not present`},
		{"groups", flags(func(o *apiserver.OIDC) { o.GroupsClaim, o.GroupsPrefix = "groups", "g:" }), idp.token("RS256", claims{"groups": []string{"a", "b"}}), user("jane", "g:a", "g:b"), ""},
		{"one group", flags(func(o *apiserver.OIDC) { o.GroupsClaim = "role" }), idp.token("RS256", claims{"role": "a"}), user("jane", "a"), ""},
		{"a distributed claim", flags(func(o *apiserver.OIDC) { o.GroupsClaim = "groups" }), idp.token("RS256", claims{
			"_claim_names": claims{"groups": "s"}, "_claim_sources": claims{"s": claims{"endpoint": idp.URL + "/groups", "access_token": "access"}},
		}), user("jane", "far"), ""},
		{"required claim", flags(func(o *apiserver.OIDC) { o.RequiredClaims = map[string]string{"hd": "x"} }), idp.token("RS256", claims{"hd": "x"}), user("jane"), ""},
		{"required claim of another value", flags(func(o *apiserver.OIDC) { o.RequiredClaims = map[string]string{"hd": "x"} }), idp.token("RS256", claims{"hd": "y"}), "401",
			"oidc: required claim hd value does not match. Got = y, want = x"},
		{"required claim is missing", flags(func(o *apiserver.OIDC) { o.RequiredClaims = map[string]string{"hd": "x"} }), idp.token("RS256", nil), "401", "oidc: required claim hd not present in ID token"},
		{"a token ID", flags(nil), idp.token("RS256", claims{"jti": "1"}), `{"extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]},"groups":["system:authenticated"],"username":"jane"}`, ""},
		{"another audience", flags(nil), idp.token("RS256", claims{"aud": []string{"you"}}), "401", `oidc: verify token: oidc: expected audience "me" got ["you"]`},
		{"one of several audiences", flags(nil), idp.token("RS256", claims{"aud": []string{"you", "me"}}), user("jane"), ""},
		{"expired", flags(nil), idp.token("RS256", claims{"exp": issued.Add(-time.Second).Unix()}), "401", "oidc: verify token: oidc: token is expired (Token Expiry: "},
		{"no expiry", flags(nil), idp.token("RS256", claims{"exp": nil}), "401", "oidc: verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)"},
		{"not valid yet", flags(nil), idp.token("RS256", claims{"nbf": issued.Add(2 * time.Minute).Unix()}), "401", "before the nbf (not before) time: "},
		{"valid in less than the leeway", flags(nil), idp.token("RS256", claims{"nbf": issued.Add(30 * time.Second).Unix()}), user("jane"), ""},
		{"no beginning", flags(nil), idp.token("RS256", claims{"nbf": nil}), user("jane"), ""},
		{"a claim of another type", flags(nil), idp.token("RS256", claims{"nonce": 5}), "401", "oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field"},
		{"a time that is not a number", flags(nil), idp.token("RS256", claims{"iat": "x"}), "401", "oidc: verify token: oidc: failed to unmarshal claims: json: invalid number literal"},
		{"a distributed claim without a source", flags(nil), idp.token("RS256", claims{"_claim_names": claims{"a": "s"}}), "401", "oidc: verify token: oidc: source does not exist"},
		{"a distributed claim of no source", flags(nil), idp.token("RS256", claims{"_claim_names": claims{"a": ""}}), "401", "oidc: verify token: oidc: failed to obtain source from claim name"},
		{"another algorithm", flags(nil), idp.token("ES256", nil), "401", `oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "ES256"`},
		{"ES256", flags(func(o *apiserver.OIDC) { o.SigningAlgs = []string{"ES256"} }), idp.token("ES256", nil), user("jane"), ""},
		{"PS256", flags(func(o *apiserver.OIDC) { o.SigningAlgs = []string{"RS256", "PS256"} }), idp.token("PS256", nil), user("jane"), ""},
		{"a key of somebody else", flags(nil), other.token("RS256", claims{"iss": idp.URL}), "401", "oidc: verify token: failed to verify signature: failed to verify id token signature"},
		{"another issuer", flags(nil), other.token("RS256", nil), "401", "invalid bearer token"},
		{"no token", flags(nil), "secret", "401", "invalid bearer token"},
		{"the issuer is not trusted", flags(func(o *apiserver.OIDC) { o.CA = nil }), idp.token("RS256", nil), "401", "x509: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithAPIServer(apiserver.Config{Authentication: &tt.auth}))
			assert.Equal(t, tt.want, userOf(t, srv, tt.token))
			if tt.error != "" {
				assert.Contains(t, reviewError(t, srv, tt.token), tt.error)
			}
		})
	}
}

// The keys are fetched once, for the first token, and again for a token of another key.
func TestOIDCFetchesKeys(t *testing.T) {
	idp := newIssuer(t)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{
		OIDC: &apiserver.OIDC{IssuerURL: idp.URL, ClientID: "me", CA: idp.ca(), UsernamePrefix: "-"},
	}}))
	require.Zero(t, idp.fetched.Load())
	idp.down.Store(true)
	require.Equal(t, "401", userOf(t, srv, idp.token("RS256", nil)))
	require.EqualValues(t, 1, idp.fetched.Load())
	idp.down.Store(false)
	require.Equal(t, user("jane"), userOf(t, srv, idp.token("RS256", nil)))
	require.EqualValues(t, 3, idp.fetched.Load(), "the discovery document and the keys")
	require.Equal(t, user("jane"), userOf(t, srv, idp.token("RS256", nil)))
	require.EqualValues(t, 3, idp.fetched.Load())
	var err error
	idp.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	require.Equal(t, user("jane"), userOf(t, srv, idp.token("RS256", nil)))
	require.EqualValues(t, 4, idp.fetched.Load())
	fork := srv.Fork(t)
	require.Equal(t, user("jane"), userOf(t, fork, idp.token("RS256", nil)))
}

// Tokens of an issuer that does not answer are refused while one request for its keys waits.
func TestOIDCIssuerHangs(t *testing.T) {
	idp := newIssuer(t)
	idp.hang = make(chan struct{})
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{
		OIDC: &apiserver.OIDC{IssuerURL: idp.URL, ClientID: "me", CA: idp.ca(), UsernamePrefix: "-"},
	}}))
	begin := time.Now()
	for range 10 {
		require.Equal(t, "401", userOf(t, srv, idp.token("RS256", nil)))
	}
	assert.Less(t, time.Since(begin), 10*time.Second)
	assert.EqualValues(t, 1, idp.fetched.Load())
	close(idp.hang)
	assert.Eventually(t, func() bool { return userOf(t, srv, idp.token("RS256", nil)) == user("jane") }, 10*time.Second, time.Millisecond)
	assert.EqualValues(t, 2, idp.fetched.Load(), "the discovery document and the keys")
}

func TestAuthenticationConfig(t *testing.T) {
	idp := newIssuer(t)
	type claims = map[string]any
	const sub = "claimMappings: {username: {claim: sub, prefix: ''}}"
	for _, tt := range []struct {
		name   string
		config string // of the issuer, after its URL, CA and one audience
		claims claims
		want   string
		error  string
	}{
		{"a claim", sub, nil, user("jane"), ""},
		{"another URL of the discovery document", "~discoveryURL: " + idp.URL + "/elsewhere~" + sub, nil, user("jane"), ""},
		{"several audiences", "~audienceMatchPolicy: MatchAny~" + sub, claims{"aud": "you"}, user("jane"), ""},
		{"none of several audiences", "~audienceMatchPolicy: MatchAny~" + sub, claims{"aud": "them"}, "401", `oidc: verify token: oidc: expected audience in ["me" "you"] got ["them"]`},
		{"expressions", `claimMappings:
    username: {expression: '"x:" + claims.sub'}
    groups: {expression: 'claims.roles.split(",") + ["y", ""]'}
    uid: {expression: claims.tenant.id}
    extra: [{key: example.com/tenant, valueExpression: claims.tenant.name}, {key: example.com/none, valueExpression: 'claims.?none.orValue("")'}]`,
			claims{"roles": "a,b", "tenant": claims{"id": "7", "name": "acme"}},
			`{"extra":{"example.com/tenant":["acme"]},"groups":["a","b","y","system:authenticated"],"uid":"7","username":"x:jane"}`, ""},
		{"an escaped name", `claimMappings: {username: {expression: claims.kubernetes__dot__io.pod__dash__name}}`, claims{"kubernetes.io": claims{"pod-name": "p"}}, user("p"), ""},
		{"groups are null", `claimMappings: {username: {claim: sub, prefix: ''}, groups: {expression: 'claims.g'}}`, claims{"g": []any{}}, user("jane"), ""},
		{"groups are a number", `claimMappings: {username: {claim: sub, prefix: ''}, groups: {expression: 'claims.g'}}`, claims{"g": 1}, "401",
			"oidc: error evaluating group claim expression: expression must return a string or a list of strings"},
		{"the name is a number", `claimMappings: {username: {expression: 'claims.n'}}`, claims{"n": 1}, "401", "oidc: error evaluating username claim expression: username claim expression must return a string"},
		{"the name is empty", `claimMappings: {username: {expression: 'claims.n'}}`, claims{"n": ""}, "401", "oidc: empty username via CEL expression is not allowed"},
		{"no such claim", `claimMappings: {username: {expression: 'claims.n'}}`, nil, "401", "oidc: error evaluating username claim expression: expression 'claims.n' resulted in error: no such key: n"},
		{"a claim for the UID", `claimMappings: {username: {claim: sub, prefix: ''}, uid: {claim: oid}}`, claims{"oid": "7"}, `{"groups":["system:authenticated"],"uid":"7","username":"jane"}`, ""},
		{"a rule for a claim", sub + "\n  claimValidationRules: [{claim: hd, requiredValue: x}]", claims{"hd": "x"}, user("jane"), ""},
		{"a rule that is false", sub + "\n  claimValidationRules: [{expression: 'claims.exp - claims.iat <= 60', message: too long}]", claims{"iat": issued.Unix()}, "401",
			"oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.iat <= 60' failed: too long"},
		{"a rule for users", sub + "\n  userValidationRules: [{expression: \"user.groups.all(g, g != 'x') && !user.username.startsWith('system:')\", message: reserved}]", claims{"sub": "system:x"}, "401",
			"oidc: error evaluating user info validation rule: validation expression 'user.groups.all(g, g != 'x') && !user.username.startsWith('system:')' failed: reserved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			more, config, ok := strings.Cut(strings.TrimPrefix(tt.config, "~"), "~")
			if !ok {
				more, config = "", tt.config
			}
			audiences := "[me]"
			if strings.HasPrefix(more, "audience") {
				audiences = "[me, you]"
			}
			file := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer:\n    url: %s\n    audiences: %s\n    certificateAuthority: %q\n    %s\n  %s\n",
				idp.URL, audiences, idp.ca(), more, config)
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(issued), fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{Config: []byte(file)}}))
			token := idp.token("ES256", tt.claims)
			assert.Equal(t, tt.want, userOf(t, srv, token))
			if tt.error != "" {
				assert.Contains(t, reviewError(t, srv, token), tt.error)
			}
		})
	}
}

func TestAnonymousConditions(t *testing.T) {
	for _, tt := range []struct {
		name, anonymous string
		readyz, pods    int
	}{
		{"enabled", "{enabled: true}", 200, 200},
		{"disabled", "{enabled: false}", 401, 401},
		{"one path", "{enabled: true, conditions: [{path: /readyz}]}", 200, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{
				Config: []byte("apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\nanonymous: " + tt.anonymous),
			}}))
			for path, want := range map[string]int{"/readyz": tt.readyz, "/api/v1/pods": tt.pods} {
				w := httptest.NewRecorder()
				srv.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				assert.Equal(t, want, w.Code, path)
			}
		})
	}
}

// The errors are those of kube-apiserver v1.36.3 for the same files.
func TestInvalidAuthenticationConfig(t *testing.T) {
	const valid = "issuer: {url: https://a.example, audiences: [me]}, claimMappings: {username: {claim: sub, prefix: ''}}"
	for _, tt := range []struct{ name, version, jwt, want string }{
		{"no issuer", "v1", "{}", `invalid authentication configuration: [jwt[0].issuer.url: Required value, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username: Required value: claim or expression is required]`},
		{"URL", "v1", "{issuer: {url: 'http://u@a.example?q#f', audiences: [me]}, claimMappings: {username: {claim: sub, prefix: ''}}}",
			`invalid authentication configuration: [jwt[0].issuer.url: Invalid value: "http://u@a.example?q#f": URL scheme must be https, jwt[0].issuer.url: Invalid value: "http://u@a.example?q#f": URL must not contain a username or password, jwt[0].issuer.url: Invalid value: "http://u@a.example?q#f": URL must not contain a query, jwt[0].issuer.url: Invalid value: "http://u@a.example?q#f": URL must not contain a fragment]`},
		{"issuer of service accounts", "v1", "{issuer: {url: 'https://accounts.example', audiences: [me]}, claimMappings: {username: {claim: sub, prefix: ''}}}", `issuer.url: Invalid value: "https://accounts.example": URL must not overlap with disallowed issuers: [https://accounts.example]`},
		{"issuer of service accounts and another error", "v1", "{issuer: {url: 'https://accounts.example'}, claimMappings: {username: {claim: sub, prefix: ''}}}", "invalid authentication configuration: jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"},
		{"two of the same issuer", "v1", "{" + valid + "},{" + valid + "}", `invalid authentication configuration: jwt[1].issuer.url: Duplicate value: "https://a.example"`},
		{"audiences", "v1", "{issuer: {url: https://a.example, audiences: [me, '', me]}, claimMappings: {username: {claim: sub, prefix: ''}}}",
			`invalid authentication configuration: [jwt[0].issuer.audiences[1]: Required value, jwt[0].issuer.audiences[2]: Duplicate value: "me", jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences]`},
		{"no prefix", "v1", "{issuer: {url: https://a.example, audiences: [me]}, claimMappings: {username: {claim: sub}}}",
			"invalid authentication configuration: jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing"},
		{"result type", "v1", "{" + valid + ", claimValidationRules: [{expression: claims.a}]}", `invalid authentication configuration: jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a": must evaluate to bool`},
		{"constant that does not convert", "v1", "{" + valid + ", claimValidationRules: [{expression: 'bool(\"a\")'}]}", `jwt[0].claimValidationRules[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'bool'`},
		{"syntax", "v1", "{" + valid + ", userValidationRules: [{expression: user.name == 'a'}]}", `invalid authentication configuration: jwt[0].userValidationRules[0].expression: Invalid value: "user.name == 'a'": compilation failed: ERROR: <input>:1:5: undefined field 'name'`},
		{"email that may not be verified", "v1", "{issuer: {url: https://a.example, audiences: [me]}, claimMappings: {username: {expression: claims.email}}}",
			`jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression`},
		{"extra", "v1", "{issuer: {url: https://a.example, audiences: [me]}, claimMappings: {username: {claim: sub, prefix: ''}, extra: [{key: X.k8s.io/a, valueExpression: claims.a}]}}",
			`jwt[0].claimMappings.extra[0].key: Invalid value: "X.k8s.io/a": must be lowercase, jwt[0].claimMappings.extra[0].key: Invalid value: "X.k8s.io/a": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use`},
		{"unknown field", "v1", "{" + valid + ", foo: 1}", `failed to load authentication configuration: strict decoding error: unknown field "jwt[0].foo"`},
		{"unknown version", "v2", "{" + valid + "}", `no kind "AuthenticationConfiguration" is registered for version "apiserver.config.k8s.io/v2"`},
		{"egress selector", "v1", "{issuer: {url: https://a.example, audiences: [me], egressSelectorType: cluster}, claimMappings: {username: {claim: sub, prefix: ''}}}", `oidc: egress lookup required with egress selector type "cluster"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{
				ServiceAccountIssuers: []string{"https://accounts.example"},
				Config:                []byte("apiVersion: apiserver.config.k8s.io/" + tt.version + "\nkind: AuthenticationConfiguration\njwt: [" + tt.jwt + "]"),
			}}))
			require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.Contains(t, err.Error(), tt.want)
		})
	}
	for name, o := range map[string]*apiserver.OIDC{
		"oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set": {IssuerURL: "https://a.example"},
		`oidc: unsupported signing alg: "HS256"`:                                                      {IssuerURL: "https://a.example", ClientID: "me", SigningAlgs: []string{"HS256"}},
		`jwt[0].issuer.url: Invalid value: "http://a"`:                                                {IssuerURL: "http://a", ClientID: "me", SigningAlgs: []string{"HS256"}},
	} {
		_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{OIDC: o}}))
		assert.ErrorContains(t, err, name)
	}
}

func TestAuthenticationConfigOfReleases(t *testing.T) {
	config := func(version string) fakeapi.Option {
		return fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{Config: []byte("apiVersion: apiserver.config.k8s.io/" + version + "\nkind: AuthenticationConfiguration\njwt: []")}})
	}
	for _, tt := range []struct {
		name, release, version string
		gates                  map[string]bool
		want                   string // of the error; "" for none
	}{
		{"v1beta1", "v1.32", "v1beta1", nil, ""},
		{"v1 is too new", "v1.33", "v1", nil, `no kind "AuthenticationConfiguration" is registered for version "apiserver.config.k8s.io/v1"`},
		{"v1", "v1.34", "v1", nil, ""},
		{"the gate is off", "v1.33", "v1beta1", map[string]bool{"StructuredAuthenticationConfiguration": false}, "set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: tt.gates}), config(tt.version))
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			srv.Close()
		})
	}
}

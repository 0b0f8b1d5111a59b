package serviceaccount

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A mapStore holds objects by key.
type mapStore map[string]*storage.Object

func (s mapStore) Newest(key string) *storage.Object { return s[key] }

func (s mapStore) put(t *testing.T, types *resource.Types, group, plural, body string) {
	typ := types.Lookup(group, "v1", plural)
	obj, _, err := typ.Codec.Decode([]byte(body), false)
	require.NoError(t, err)
	o := storage.New(typ, obj, nil)
	s[typ.Key(o.Namespace, o.Name)] = o
}

// newTokens returns Tokens at the time *now, with the service account ns/a and
// objects that its tokens can be bound to.
func newTokens(t *testing.T, now *time.Time) (*Tokens, mapStore) {
	types, store := resource.NewTypes(kinds.Types(newest(t))), mapStore{}
	store.put(t, types, coreGroup, "serviceaccounts", `{"metadata":{"name":"a","namespace":"ns","uid":"ua"}}`)
	store.put(t, types, coreGroup, "pods", `{"metadata":{"name":"p","namespace":"ns","uid":"up"},"spec":{"serviceAccountName":"a","nodeName":"n"}}`)
	store.put(t, types, coreGroup, "pods", `{"metadata":{"name":"other","namespace":"ns","uid":"uo"},"spec":{"serviceAccountName":"b"}}`)
	store.put(t, types, coreGroup, "nodes", `{"metadata":{"name":"n","uid":"un"}}`)
	store.put(t, types, coreGroup, "secrets", `{"metadata":{"name":"s","namespace":"ns","uid":"us"}}`)
	return &Tokens{Keys: NewKeys(Config{}), Types: types, Store: store, Now: func() time.Time { return *now }, NewUID: func() string { return "id" }}, store
}

// newest returns the newest release.
func newest(t *testing.T) *release.Release {
	r, err := release.Open("")
	require.NoError(t, err)
	return r
}

func withGates(t *testing.T, gates map[string]bool) *release.Release {
	r, err := newest(t).WithGates(gates)
	require.NoError(t, err)
	return r
}

func decode(t *testing.T, body string) map[string]any {
	var obj map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &obj))
	if spec, ok := obj["spec"].(map[string]any); ok {
		if n, ok := spec["expirationSeconds"].(float64); ok {
			spec["expirationSeconds"] = int64(n)
		}
	}
	return obj
}

func request(spec string) string {
	return fmt.Sprintf(`{"metadata":{},"spec":{%s}}`, spec)
}

func bound(kind, name, uid string) string {
	return fmt.Sprintf(`"boundObjectRef":{"apiVersion":"v1","kind":%q,"name":%q,"uid":%q}`, kind, name, uid)
}

func TestRequestAndAuthenticate(t *testing.T) {
	for _, tt := range []struct {
		name, spec, node string
		delete           string // the key of an object that invalidates the token; "" for none
		err              string // after the deletion
	}{
		{name: "unbound", delete: "/serviceaccounts/ns/a", err: `serviceaccounts "a" not found`},
		{name: "bound to a secret", spec: bound("Secret", "s", ""), delete: "/secrets/ns/s", err: "service account token has been invalidated"},
		{name: "bound to a node", spec: bound("Node", "n", "un"), node: "n", delete: "/nodes/n", err: "service account token has been invalidated"},
		{name: "bound to a pod", spec: bound("Pod", "p", "up"), node: "n", delete: "/pods/ns/p", err: "service account token has been invalidated"},
		{name: "the node of a pod is not bound", spec: bound("Pod", "p", "up"), node: "n", delete: "/nodes/n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			tokens, store := newTokens(t, &now)
			obj := decode(t, request(tt.spec))
			_, err := tokens.Request(newest(t), obj, "ns", "a", admitAll)
			require.NoError(t, err)
			assert.Equal(t, map[string]any{"name": "a", "namespace": "ns", "uid": "ua", "creationTimestamp": "1970-01-01T00:16:40Z"}, obj["metadata"])
			status := obj["status"].(map[string]any)
			assert.Equal(t, "1970-01-01T01:16:40Z", status["expirationTimestamp"])

			token := status["token"].(string)
			user, audiences, err := tokens.AuthenticateToken(context.Background(), token, NewKeys(Config{}).Audiences())
			require.NoError(t, err)
			assert.Equal(t, "system:serviceaccount:ns:a", user.Name)
			assert.Equal(t, NewKeys(Config{}).Audiences(), audiences)
			if tt.node != "" {
				assert.Equal(t, []string{tt.node}, user.Extra[authn.ExtraNodeName])
			}
			_, _, err = tokens.AuthenticateToken(context.Background(), token, []string{"vault"})
			assert.ErrorContains(t, err, "is invalid for the target audiences")

			require.Contains(t, store, tt.delete)
			delete(store, tt.delete)
			_, _, err = tokens.AuthenticateToken(context.Background(), token, NewKeys(Config{}).Audiences())
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

func TestRequestExpiration(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		config     Config
		shown      string
		valid      time.Duration
		warnings   []string
	}{
		{"default", "", Config{}, "1970-01-01T01:16:40Z", time.Hour, nil},
		{"ten minutes", `"expirationSeconds":600`, Config{}, "1970-01-01T00:26:40Z", 10 * time.Minute, nil},
		{"projected into a pod", `"expirationSeconds":3607,` + bound("Pod", "p", ""), Config{}, "1970-01-01T01:16:47Z", 365 * 24 * time.Hour, nil},
		{"projected, for another audience", `"expirationSeconds":3607,"audiences":["x"],` + bound("Pod", "p", ""), Config{}, "1970-01-01T01:16:47Z", 3607 * time.Second, nil},
		{"projected, for one of the audiences of the server", `"expirationSeconds":3607,"audiences":["x"],` + bound("Pod", "p", ""), Config{Audiences: []string{"x", "y"}}, "1970-01-01T01:16:47Z", 365 * 24 * time.Hour, nil},
		{"projected, without an extension", `"expirationSeconds":3607,` + bound("Pod", "p", ""), Config{NoExtension: true}, "1970-01-01T01:16:47Z", 3607 * time.Second, nil},
		{"the longest", `"expirationSeconds":7200`, Config{MaxExpiration: 2 * time.Hour}, "1970-01-01T02:16:40Z", 2 * time.Hour, nil},
		{"too long", `"expirationSeconds":7201`, Config{MaxExpiration: 2 * time.Hour}, "1970-01-01T02:16:40Z", 2 * time.Hour, []string{"requested expiration of 7201 seconds shortened to 7200 seconds"}},
		{"projected, too long", `"expirationSeconds":3607,` + bound("Pod", "p", ""), Config{MaxExpiration: time.Hour}, "1970-01-01T01:16:40Z", time.Hour, []string{"requested expiration of 3607 seconds shortened to 3600 seconds"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			tokens, _ := newTokens(t, &now)
			tokens.Keys = NewKeys(tt.config)
			obj := decode(t, request(tt.spec))
			issued, err := tokens.Request(newest(t), obj, "ns", "a", admitAll)
			require.NoError(t, err)
			assert.Equal(t, tt.warnings, issued.Warnings)
			status := obj["status"].(map[string]any)
			assert.Equal(t, tt.shown, status["expirationTimestamp"])
			audiences := append(NewKeys(Config{}).Audiences(), "x")
			now = time.Unix(1000, 0).Add(tt.valid)
			var got recorder
			_, _, err = tokens.AuthenticateToken(authn.WithRecorder(context.Background(), &got), status["token"].(string), audiences)
			assert.NoError(t, err)
			if tt.valid == 365*24*time.Hour {
				assert.Equal(t, []string{"stale-token=subject: system:serviceaccount:ns:a, seconds after warning threshold: 31532393"}, got.annotations)
			} else {
				assert.Empty(t, got.annotations)
			}
			now = now.Add(leeway + time.Second)
			_, _, err = tokens.AuthenticateToken(context.Background(), status["token"].(string), audiences)
			assert.EqualError(t, err, "service account token has expired")
		})
	}
}

func TestRequestErrors(t *testing.T) {
	const webhook = `"boundObjectRef":{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","name":"w"},`
	for _, tt := range []struct{ name, body, err string }{
		{"other name", `{"metadata":{"name":"b"}}`, `must match the service account name if specified`},
		{"other uid", `{"metadata":{"uid":"x"}}`, `the UID in the token request (x) does not match the UID of the service account (ua)`},
		{"too short", request(`"expirationSeconds":599`), "may not specify a duration less than 10 minutes"},
		{"too long", request(`"expirationSeconds":4294967297`), "may not specify a duration larger than 2^32 seconds"},
		{"bound to another kind", request(bound("ConfigMap", "c", "")), "cannot bind token to object of type /v1, Kind=ConfigMap"},
		{"attestations", request(`"attestations":{"admissionReviewAPIGroups":["apps"]}`), "spec.attestations: Invalid value: {\"admissionReviewAPIGroups\":[\"apps\"]}: attestations may only be specified with a webhook bound object reference"},
		{"bound to a webhook", request(webhook + `"audiences":["a"],"attestations":{"admissionReviewAPIGroups":["apps"]}`), "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=MutatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)"},
		{"bound to a webhook, no attestation", request(webhook + `"audiences":["a","b"]`), "[spec.audiences: Invalid value: [\"a\",\"b\"]: must be length 1 when bound to a webhook config, spec.attestations: Invalid value: null: webhook bound requests require exactly one admissionReviewAPIGroups attestation]"},
		{"bound to a webhook, other attestation", request(webhook + `"audiences":["a"],"attestations":{"x":["apps"]}`), `spec.attestations[x]: Unsupported value: "x": supported values: "admissionReviewAPIGroups"`},
		{"bound to a webhook, two groups", request(webhook + `"audiences":["a"],"attestations":{"admissionReviewAPIGroups":["a","b"]}`), "must specify a single value"},
		{"bound to a webhook, empty group", request(webhook + `"audiences":["a"],"attestations":{"admissionReviewAPIGroups":[""]}`), "may not be an empty string"},
		{"bound to a webhook, invalid group", request(webhook + `"audiences":["a"],"attestations":{"admissionReviewAPIGroups":["A"]}`), "must specify a valid API Group: a lowercase RFC 1123 subdomain"},
		{"bound to no name", request(bound("Pod", "", "")), "Name parameter required."},
		{"bound to an invalid name", request(bound("Pod", "a/b", "")), "Name parameter invalid"},
		{"bound to a missing object", request(bound("Secret", "gone", "")), `secrets "gone" not found`},
		{"bound to a replaced object", request(bound("Secret", "s", "x")), "the UID in the bound object reference (x) does not match the UID in record"},
		{"bound to the pod of another account", request(bound("Pod", "other", "")), `cannot bind token for serviceaccount "a" to pod running with different serviceaccount name.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			tokens, _ := newTokens(t, &now)
			_, err := tokens.Request(newest(t), decode(t, tt.body), "ns", "a", admitAll)
			assert.ErrorContains(t, err, tt.err)
		})
	}
	now := time.Unix(1000, 0)
	tokens, _ := newTokens(t, &now)
	_, err := tokens.Request(newest(t), decode(t, request("")), "ns", "b", admitAll)
	assert.EqualError(t, err, `serviceaccounts "b" not found`)
}

// TestAuthenticateTerminating marks the service account for deletion.
func TestAuthenticateTerminating(t *testing.T) {
	now := time.Unix(1000, 0)
	tokens, store := newTokens(t, &now)
	obj := decode(t, request(""))
	_, err := tokens.Request(newest(t), obj, "ns", "a", admitAll)
	require.NoError(t, err)
	store.put(t, tokens.Types, coreGroup, "serviceaccounts", `{"metadata":{"name":"a","namespace":"ns","uid":"ua","deletionTimestamp":"1970-01-01T00:16:40Z"}}`)
	now = now.Add(leeway + time.Second)
	_, _, err = tokens.AuthenticateToken(context.Background(), object.String(obj, "status", "token"), tokens.Keys.Audiences())
	assert.EqualError(t, err, "service account ns/a has been deleted")
}

func TestRequestUID(t *testing.T) {
	const body = `{"metadata":{"uid":"other"}}`
	now := time.Unix(1000, 0)
	tokens, _ := newTokens(t, &now)

	obj := decode(t, body)
	issued, err := tokens.Request(withGates(t, map[string]bool{uidGate: false}), obj, "ns", "a", admitAll)
	require.NoError(t, err)
	assert.Equal(t, "other", object.String(obj, "metadata", "uid"))
	assert.Equal(t, []string{"the UID in the token request (other) does not match the UID of the service account (ua) but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error"}, issued.Warnings)
	assert.Equal(t, "the UID in the token request (other) does not match the UID of the service account (ua)", issued.Annotations["authentication.k8s.io/token-request-uid-mismatch"])

	older, err := release.Open("1.33")
	require.NoError(t, err)
	obj = decode(t, body)
	issued, err = tokens.Request(older, obj, "ns", "a", admitAll)
	require.NoError(t, err)
	assert.Empty(t, object.String(obj, "metadata", "uid"))
	assert.Empty(t, issued.Warnings)
}

var admitAll = Checks{
	Admit:  func() error { return nil },
	Attest: func(*authn.User, string) error { return nil },
}

package serviceaccount

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
)

// KeySetPath is the path of the document that KeySet returns.
const KeySetPath = "/openid/v1/jwks"

// OpenIDConfiguration returns the OpenID provider configuration of the server, which clients
// reach at host. They find the keys of the tokens by it.
//
// See https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery.
func (k *Keys) OpenIDConfiguration(host string) ([]byte, error) {
	var algorithms []string
	for _, v := range k.verifiers() {
		algorithms = append(algorithms, v.algorithm)
	}
	slices.Sort(algorithms)
	return json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{k.config.Issuers[0], cmp.Or(k.config.KeySetURL, "https://"+host+KeySetPath), []string{"id_token"}, []string{"public"}, slices.Compact(algorithms)})
}

// A webKey is a JSON Web Key. See RFC 7518, section 6.
type webKey struct {
	Use string `json:"use"`
	Kty string `json:"kty"`
	Kid string `json:"kid"`
	Crv string `json:"crv,omitempty"`
	Alg string `json:"alg"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
}

// KeySet returns the public keys of the tokens as a JSON Web Key Set.
func (k *Keys) KeySet() ([]byte, error) {
	keys := []webKey{}
	for _, v := range k.verifiers() {
		web := webKey{Use: "sig", Kid: v.id, Alg: v.algorithm}
		number := base64.RawURLEncoding.EncodeToString
		switch key := v.key.(type) {
		case *rsa.PublicKey:
			web.Kty, web.N, web.E = "RSA", number(key.N.Bytes()), number(big.NewInt(int64(key.E)).Bytes())
		case *ecdsa.PublicKey:
			size := coordinateSize(key)
			web.Kty, web.Crv = "EC", key.Params().Name
			web.X, web.Y = number(key.X.FillBytes(make([]byte, size))), number(key.Y.FillBytes(make([]byte, size)))
		}
		keys = append(keys, web)
	}
	return json.Marshal(map[string][]webKey{"keys": keys})
}

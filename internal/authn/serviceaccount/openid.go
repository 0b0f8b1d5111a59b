package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
)

// KeySetPath is the path of the document that KeySet returns.
const KeySetPath = "/openid/v1/jwks"

// OpenIDConfiguration returns the OpenID provider configuration of the server at
// host. Clients find the keys of the tokens by it.
//
// See https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery.
func OpenIDConfiguration(host string) ([]byte, error) {
	return json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{Issuer, "https://" + host + KeySetPath, []string{"id_token"}, []string{"public"}, []string{algorithm}})
}

// KeySet returns the public key of the tokens as a JSON Web Key Set.
func KeySet() ([]byte, error) {
	type key struct {
		Use string `json:"use"`
		Kty string `json:"kty"`
		Kid string `json:"kid"`
		Alg string `json:"alg"`
		N   string `json:"n"`
		E   string `json:"e"`
	}
	s, number := signingKey(), base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string][]key{"keys": {{
		Use: "sig", Kty: "RSA", Kid: s.id, Alg: algorithm,
		N: number(s.key.N.Bytes()), E: number(big.NewInt(int64(s.key.E)).Bytes()),
	}}})
}

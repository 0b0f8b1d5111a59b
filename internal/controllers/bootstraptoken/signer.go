package bootstraptoken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/kubefake/kubefake/internal/authn/bootstraptoken"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/selector"
)

// The ConfigMap that is signed, and the prefix of the keys of its signatures.
var clusterInfo = controller.Key{Namespace: "kube-public", Name: "cluster-info"}

const signaturePrefix = "jws-kubeconfig-"

type signer struct {
	env     *controller.Env
	client  *controller.Client
	configs *controller.Informer
	secrets *controller.Informer
}

// StartSigner starts the bootstrap-signer-controller, which signs the kubeconfig in the
// ConfigMap cluster-info with each token.
func StartSigner(e *controller.Env) {
	c := &signer{env: e, client: e.Client("bootstrap-signer")}
	queue := e.Queue(c.sync)
	c.configs = e.Informer(controller.ConfigMaps, func(_, config *controller.Object) {
		if config != nil && config.Key() == clusterInfo {
			queue.Add(clusterInfo)
		}
	})
	c.secrets = e.Informer(controller.Secrets, func(old, secret *controller.Object) {
		if isToken(old) || isToken(secret) {
			queue.Add(clusterInfo)
		}
	})
}

func (c *signer) sync(k controller.Key) error {
	config := c.configs.Get(k.Namespace, k.Name)
	if config == nil {
		return nil
	}
	old := config.View().At("data")
	content, ok := old.At("kubeconfig").Shared().(string)
	if !ok {
		return nil
	}
	data := map[string]any{}
	for key, value := range old.Fields() {
		if !strings.HasPrefix(key, signaturePrefix) {
			data[key] = value.Shared()
		}
	}
	for _, secret := range c.secrets.List(bootstraptoken.Namespace, selector.Labels{}) {
		if id := c.signingID(secret); id != "" {
			data[signaturePrefix+id] = sign(content, id, bootstraptoken.Field(secret.View(), "token-secret"))
		}
	}
	if old.EqualTo(data) {
		return nil
	}
	changed := config.Copy()
	changed["data"] = data
	_, _ = c.client.Update(controller.ConfigMaps, "", changed) // a change of it or of a token repeats it
	return nil
}

// signingID returns the ID of a token, "" if the Secret is not a valid token for signing.
func (c *signer) signingID(secret *controller.Object) string {
	if !isToken(secret) {
		return ""
	}
	id, ok := strings.CutPrefix(secret.Name, bootstraptoken.SecretPrefix)
	_, expired := bootstraptoken.Expiration(secret.View(), c.env.Now())
	field := func(name string) string { return bootstraptoken.Field(secret.View(), name) }
	if !ok || len(id) != 6 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || field("token-id") != id ||
		field("token-secret") == "" || expired || field("usage-bootstrap-signing") != "true" {
		return ""
	}
	return id
}

// sign returns the JSON Web Signature of a text by a token, without the text (RFC 7515,
// appendix F).
func sign(content, id, secret string) string {
	encode := base64.RawURLEncoding.EncodeToString
	header, _ := json.Marshal(map[string]string{"alg": "HS256", "kid": id})
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(encode(header) + "." + encode([]byte(content))))
	return encode(header) + ".." + encode(mac.Sum(nil))
}

package kinds

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxSecret is how many bytes the values of a Secret or a ConfigMap may have.
const maxSecret = 1 << 20

const accountNameAnnotation = "kubernetes.io/service-account.name"

// redacted stands for what a message must not tell.
const redacted = "<secret contents redacted>"

func validateSecret(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, secret)
	}
	return mistakes(obj, nil, secretUpdate(old), secret)
}

func validateConfigMap(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, configMap)
	}
	return mistakes(obj, nil, sealed(old, "data", "binaryData"), configMap)
}

func secretUpdate(old map[string]any) func(part) {
	return func(p part) {
		p.immutable("type", "s", old)
		sealed(old, "data")(p)
	}
}

// sealed returns the rule that what was made immutable stays so.
func sealed(old map[string]any, members ...string) func(part) {
	const detail = "field is immutable when `immutable` is set"
	return func(p part) {
		if !object.Bool(old, "immutable") {
			return
		}
		if !p.flag("immutable") {
			p.forbid("immutable", detail)
		}
		for _, name := range members {
			if !sameData(object.Map(p.obj, name), object.Map(old, name)) {
				p.forbid(name, detail)
			}
		}
	}
}

// sameData compares the data of two versions. None and an empty map are the
// same.
func sameData(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || validation.Equal(a, b)
}

func configMap(p part) {
	size := 0
	binary := object.Map(p.obj, "binaryData")
	for key, v := range p.entries("data") {
		text, _ := v.(string)
		size += len(text)
		dataKey(p, "data", key)
		if _, taken := binary[key]; taken {
			p.note(validation.Invalid(p.at("data").Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	for key, v := range p.entries("binaryData") {
		size += bytesIn(v)
		dataKey(p, "binaryData", key)
	}
	if size > maxSecret {
		p.note(validation.TooLong(validation.NewPath(""), maxSecret))
	}
}

func dataKey(p part, member, key string) {
	if messages := validation.ConfigMapKey(key); len(messages) > 0 {
		p.add(validation.Each(p.at(member).Key(key), key, messages))
	}
}

// bytesIn counts the bytes that a text in base64 stands for.
func bytesIn(v any) int {
	text, _ := v.(string)
	n := base64.StdEncoding.DecodedLen(len(text))
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
		n--
	}
	return n
}

// secretBytes is the value of a key of a secret, and whether it has the key.
func secretBytes(obj map[string]any, key string) ([]byte, bool) {
	text, ok := object.Value(obj, "data", key).(string)
	if !ok {
		return nil, object.Map(obj, "data") != nil && has(object.Map(obj, "data"), key)
	}
	data, _ := base64.StdEncoding.DecodeString(text)
	return data, true
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

func secret(p part) {
	size := 0
	for key, v := range p.entries("data") {
		size += bytesIn(v)
		dataKey(p, "data", key)
	}
	if size > maxSecret {
		p.note(validation.TooLong(p.at("data"), maxSecret))
	}
	switch p.text("type") {
	case "kubernetes.io/service-account-token":
		if object.String(p.obj, "metadata", "annotations", accountNameAnnotation) == "" {
			p.note(validation.Required(p.at("metadata").Child("annotations").Key(accountNameAnnotation), ""))
		}
	case "kubernetes.io/dockercfg":
		secretJSON(p, ".dockercfg")
	case "kubernetes.io/dockerconfigjson":
		secretJSON(p, ".dockerconfigjson")
	case "kubernetes.io/basic-auth":
		if data := object.Map(p.obj, "data"); !has(data, "username") && !has(data, "password") {
			secretKeys(p, "username", "password")
		}
	case "kubernetes.io/ssh-auth":
		if key, _ := secretBytes(p.obj, "ssh-privatekey"); len(key) == 0 {
			p.note(validation.Required(p.at("data").Key("ssh-privatekey"), ""))
		}
	case "kubernetes.io/tls":
		secretKeys(p, "tls.crt", "tls.key")
	}
}

// secretKeys requires keys of a secret.
func secretKeys(p part, keys ...string) {
	for _, key := range keys {
		if _, ok := secretBytes(p.obj, key); !ok {
			p.note(validation.Required(p.at("data").Key(key), ""))
		}
	}
}

// secretJSON requires a key whose value is an object in JSON.
func secretJSON(p part, key string) {
	data, ok := secretBytes(p.obj, key)
	if !ok {
		p.note(validation.Required(p.at("data").Key(key), ""))
		return
	}
	if err := json.Unmarshal(data, &map[string]any{}); err != nil {
		p.note(validation.Invalid(p.at("data").Key(key), redacted, err.Error()))
	}
}

// warnSecret tells of a key that does not belong to its certificate.
func warnSecret(obj, _ map[string]any) []string {
	if obj["type"] != "kubernetes.io/tls" {
		return nil
	}
	certificate, _ := secretBytes(obj, "tls.crt")
	key, _ := secretBytes(obj, "tls.key")
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return []string{err.Error()}
	}
	return nil
}

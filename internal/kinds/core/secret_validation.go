package core

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxDataSize is the maximum total size of the values of a Secret or a ConfigMap, in
// bytes.
const maxDataSize = 1 << 20

const accountNameAnnotation = "kubernetes.io/service-account.name"

// redacted replaces secret values in error messages.
const redacted = "<secret contents redacted>"

func validateSecret(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, checkSecret)
	}
	return validation.Collect(obj, nil, secretUpdate(old), checkSecret)
}

func secretUpdate(old object.View) func(validation.View) {
	return func(p validation.View) {
		p.ImmutableAs("type", "s", old)
		immutableData(old, dataField{name: "data"})(p)
	}
}

// immutableData returns a rule for updates: if old has immutable set, immutable and
// the named fields must not change.
func immutableData(old object.View, fields ...dataField) func(validation.View) {
	const detail = "field is immutable when `immutable` is set"
	return func(p validation.View) {
		if !old.Bool("immutable") {
			return
		}
		if !p.Bool("immutable") {
			p.Forbidden("immutable", detail)
		}
		for _, f := range fields {
			if !f.same(p.Obj[f.name], old.At(f.name)) {
				p.Forbidden(f.name, detail)
			}
		}
	}
}

// A dataField is a map that immutable protects.
type dataField struct {
	name           string
	emptyByDefault bool // a missing map equals an empty one
}

// same compares two values of the field.
func (f dataField) same(a any, b object.View) bool {
	if f.emptyByDefault && isEmptyData(a) && isEmptyData(b.Shared()) {
		return true
	}
	return b.EqualTo(a)
}

func isEmptyData(v any) bool { return v == nil || v == any(object.EmptyMap{}) }

func checkDataKey(p validation.View, field, key string) {
	if messages := validation.ConfigMapKey(key); len(messages) > 0 {
		p.AddList(validation.Each(p.At(field).Key(key), key, messages))
	}
}

// decodedLen returns the length of the decoded base64 text, in bytes.
func decodedLen(v any) int {
	text, _ := v.(string)
	n := base64.StdEncoding.DecodedLen(len(text))
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
		n--
	}
	return n
}

// secretBytes returns the decoded value of a key of a Secret, and whether the key
// exists.
func secretBytes(obj map[string]any, key string) ([]byte, bool) {
	text, ok := object.Value(obj, "data", key).(string)
	if !ok {
		return nil, object.Map(obj, "data") != nil && object.Has(object.Map(obj, "data"), key)
	}
	data, _ := base64.StdEncoding.DecodeString(text)
	return data, true
}

func checkSecret(p validation.View) {
	size := 0
	for key, v := range p.Entries("data") {
		size += decodedLen(v)
		checkDataKey(p, "data", key)
	}
	if size > maxDataSize {
		p.Add(validation.TooLong(p.At("data"), maxDataSize))
	}
	switch p.String("type") {
	case "kubernetes.io/service-account-token":
		if object.String(p.Obj, "metadata", "annotations", accountNameAnnotation) == "" {
			p.Add(validation.Required(p.At("metadata").Child("annotations").Key(accountNameAnnotation), ""))
		}
	case "kubernetes.io/dockercfg":
		checkSecretJSON(p, ".dockercfg")
	case "kubernetes.io/dockerconfigjson":
		checkSecretJSON(p, ".dockerconfigjson")
	case "kubernetes.io/basic-auth":
		if data := object.Map(p.Obj, "data"); !object.Has(data, "username") && !object.Has(data, "password") {
			checkSecretKeys(p, "username", "password")
		}
	case "kubernetes.io/ssh-auth":
		if key, _ := secretBytes(p.Obj, "ssh-privatekey"); len(key) == 0 {
			p.Add(validation.Required(p.At("data").Key("ssh-privatekey"), ""))
		}
	case "kubernetes.io/tls":
		checkSecretKeys(p, "tls.crt", "tls.key")
	}
}

// checkSecretKeys checks that the keys exist.
func checkSecretKeys(p validation.View, keys ...string) {
	for _, key := range keys {
		if _, ok := secretBytes(p.Obj, key); !ok {
			p.Add(validation.Required(p.At("data").Key(key), ""))
		}
	}
}

// checkSecretJSON checks that the key exists and holds a JSON object.
func checkSecretJSON(p validation.View, key string) {
	data, ok := secretBytes(p.Obj, key)
	if !ok {
		p.Add(validation.Required(p.At("data").Key(key), ""))
		return
	}
	if err := json.Unmarshal(data, &map[string]any{}); err != nil {
		p.Add(validation.Invalid(p.At("data").Key(key), redacted, err.Error()))
	}
}

// warnSecret warns about a TLS certificate and key that do not match.
func warnSecret(obj map[string]any, _ object.View) []string {
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

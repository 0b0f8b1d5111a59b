// Package configfile reads the configuration files of kube-apiserver: objects of
// apiserver.config.k8s.io and of other groups.
package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/resource"
)

// Group is the API group of most files.
const Group = "apiserver.config.k8s.io"

// Decode is DecodeAny for a kind of Group. versions are those of the kind. It returns an
// *OtherKindError for the kind of another file.
func Decode(text []byte, kind string, versions []string, minor int, out any) error {
	if err := CheckKind(text, kind); err != nil {
		return err
	}
	kinds := make([]Kind, len(versions))
	for i, version := range versions {
		kinds[i] = Kind{Group + "/" + version, kind}
	}
	return DecodeAny(text, kinds, minor, out)
}

// CheckKind returns an *OtherKindError for a document of a kind of Group that another flag takes.
func CheckKind(text []byte, kind string) error {
	if _, meta, err := Identify(text); err == nil && meta.Kind != kind && slices.Contains(otherKinds, meta) {
		return &OtherKindError{Want: kind, Got: meta}
	}
	return nil
}

// An OtherKindError is the error for a file of a kind of Group that another flag takes.
type OtherKindError struct {
	Want string
	Got  Kind
}

func (e *OtherKindError) Error() string {
	return fmt.Sprintf("expected %s, got *apiserver.%s", e.Want, e.Got.Kind)
}

// otherKinds are kinds of Group that kube-apiserver can decode where it expects another one.
var otherKinds = []Kind{
	{Group + "/v1", "AdmissionConfiguration"}, {Group + "/v1", "AuthenticationConfiguration"},
	{Group + "/v1", "AuthorizationConfiguration"}, {Group + "/v1", "EncryptionConfiguration"},
}

// A Kind is a kind of configuration in one version.
type Kind struct{ APIVersion, Kind string }

// DecodeAny reads an object in YAML or JSON into the struct that out points to. kinds are
// those that the object may have in a minor release. Unknown fields, a field that is there
// twice, and another kind or version are errors. The fields of the struct have tags of
// encoding/json.
func DecodeAny(text []byte, kinds []Kind, minor int, out any) error {
	body, err := bodyOf(text, kinds, minor)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return explain.Error(body, out, err)
	}
	c := strictChecker{found: duplicates(text)}
	c.check(json.NewDecoder(bytes.NewReader(body)), reflect.TypeOf(out).Elem(), "")
	if len(c.found) > 0 {
		return errors.New("strict decoding error: " + strings.Join(c.found, ", "))
	}
	return nil
}

// DecodeLenient is DecodeAny for the kinds whose unknown and duplicate fields
// kube-apiserver ignores: also those whose names differ in case only, which encoding/json takes.
func DecodeLenient(text []byte, kinds []Kind, minor int, out any) error {
	body, err := bodyOf(text, kinds, minor)
	if err != nil {
		return err
	}
	return UnmarshalLenient(body, out)
}

// UnmarshalLenient is DecodeLenient for JSON, whatever its kind.
func UnmarshalLenient(body []byte, out any) error {
	var generic any
	if err := json.Unmarshal(body, &generic); err != nil {
		return err
	}
	prune(generic, reflect.TypeOf(out).Elem())
	body, err := json.Marshal(generic)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return explain.Error(body, out, err)
	}
	return nil
}

// Identify returns the JSON of an object in YAML or JSON, and its kind, whose fields may be empty.
func Identify(text []byte) (body []byte, meta Kind, err error) {
	body = text
	if !isJSON(text) {
		if body, err = yaml.YAMLToJSON(text); err != nil {
			return nil, meta, err
		}
	}
	if err := json.Unmarshal(body, &meta); err != nil {
		return nil, meta, fmt.Errorf("couldn't get version/kind; json parse error: %w", explain.Error(body, &meta, err))
	}
	if strings.Count(meta.APIVersion, "/") > 1 {
		return nil, meta, fmt.Errorf("unexpected GroupVersion string: %s", meta.APIVersion)
	}
	return body, meta, nil
}

// IdentifyFlow is Identify for kinds that may be in flow style.
//
// Differs from kube-apiserver: files in flow style: kube-apiserver reads an audit policy and a
// kubeconfig that begin with a brace as JSON. Here they may be YAML. Request: any, with such an
// --audit-policy-file.
func IdentifyFlow(text []byte) (body []byte, meta Kind, err error) {
	if converted, err := yaml.YAMLToJSON(text); err == nil {
		text = converted
	}
	return Identify(text)
}

// isJSON reports whether a document is read as JSON. Others are read as YAML.
func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// bodyOf returns the JSON of an object of one of the kinds.
func bodyOf(text []byte, kinds []Kind, minor int) ([]byte, error) {
	body, meta, err := Identify(text)
	switch {
	case err != nil:
		return nil, err
	case meta.Kind == "":
		return nil, fmt.Errorf("Object 'Kind' is missing in '%s'", text)
	case meta.APIVersion == "":
		return nil, fmt.Errorf("Object 'apiVersion' is missing in '%s'", text)
	case !slices.Contains(kinds, meta):
		return nil, NotRegistered(meta, minor)
	}
	return body, nil
}

// NotRegistered returns the error for an object whose kind is no kind of a configuration.
func NotRegistered(k Kind, minor int) error {
	if group, internal := strings.CutSuffix(k.APIVersion, "/__internal"); internal {
		return fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", k.Kind, group, resource.Scheme(minor))
	}
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", k.Kind, k.APIVersion, resource.Scheme(minor))
}

// duplicates returns a problem if a field is there twice in YAML. A strictChecker finds those in JSON.
func duplicates(text []byte) []string {
	if isJSON(text) {
		return nil
	}
	if _, err := yaml.YAMLToJSONStrict(text); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// A strictChecker finds fields of JSON that a type does not have, and those that are there twice, in
// the order of the document.
type strictChecker struct{ found []string }

func (c *strictChecker) add(problem, path string) {
	if text := fmt.Sprintf("%s field %q", problem, path); !slices.Contains(c.found, text) {
		c.found = append(c.found, text)
	}
}

// check reads the next value, at a path, from d. It checks no value whose type t is nil.
func (c *strictChecker) check(d *json.Decoder, t reflect.Type, path string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := d.Token()
	if err != nil {
		return
	}
	switch token {
	case json.Delim('['):
		var item reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			item = t.Elem()
		}
		for i := 0; d.More(); i++ {
			c.check(d, item, fmt.Sprintf("%s[%d]", path, i))
		}
	case json.Delim('{'):
		var fields map[string]reflect.Type
		if t != nil && t.Kind() == reflect.Struct {
			fields = fieldsOf(t)
			if path == "" {
				fields["apiVersion"], fields["kind"] = reflect.TypeFor[string](), reflect.TypeFor[string]()
			}
		}
		seen := map[string]bool{}
		for d.More() {
			token, err := d.Token()
			if err != nil {
				return
			}
			name := token.(string)
			at := strings.TrimPrefix(path+"."+name, ".")
			switch {
			case fields == nil:
			case fields[name] == nil:
				c.add("unknown", at)
			case seen[name]:
				c.add("duplicate", at)
			}
			seen[name] = true
			c.check(d, fields[name], at)
		}
	default:
		return
	}
	_, _ = d.Token() // the end of the list or of the object
}

// prune removes the fields of a value in generic form that a type does not have.
func prune(value any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, item := range value {
				prune(item, t.Elem())
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return
		}
		types := fieldsOf(t)
		for name, v := range value {
			if types[name] == nil {
				delete(value, name)
				continue
			}
			prune(v, types[name])
		}
	}
}

// fieldsOf returns the types of the fields of a struct, by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		types[name] = t.Field(i).Type
	}
	return types
}

// A Duration is a time.Duration whose JSON is text: "30s".
type Duration struct{ time.Duration }

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("expected a duration, such as \"30s\", not %s", text)
	}
	var err error
	d.Duration, err = time.ParseDuration(s)
	return err
}

// Package unversioned prints objects in kube-apiserver's internal version. It
// validates objects in Go types that belong to no version of the API. An error
// that quotes a part of an object prints such a type as JSON: with all fields,
// empty ones too, in the order and under the names of the Go type.
package unversioned

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/data"
)

// A Value is a part of an object in generic form and the name of its Go type:
// "core.PodSpec", or another spelling in unversioned.txt of package release/data,
// such as "[]core.Toleration".
type Value struct {
	Type  string
	Value any
	Minor int // of the release that prints it; 0 is the newest one
}

// MarshalJSON prints the value as encoding/json prints the Go type.
func (v Value) MarshalJSON() ([]byte, error) {
	return release(v.Minor).appendValue(nil, v.Type, v.Value), nil
}

// A field is a field of a Go struct.
type field struct {
	name      string   // as printed, with quotes and a colon
	path      []string // of the member in the generic form; none for those of the object itself
	typ       string
	omitEmpty bool
	goName    string
	embedded  string // the type of the embedded struct that has the field, "" if none
}

// A release is the minor number of a Kubernetes release, whose types are printed.
type release int

// newest stands for the newest release.
const newest release = 0

// A section is a part of unversioned.txt: the types of the newest release, or those that
// differ in an older one and the releases before it.
type section struct {
	release
	text string
}

// sections returns those of the file, the newest first.
var sections = sync.OnceValue(func() []section {
	parts := strings.Split(data.Unversioned(), "\n-- ")
	all := []section{{newest, parts[0]}}
	for _, part := range parts[1:] {
		minor, text, _ := strings.Cut(part, " --")
		m, err := strconv.Atoi(minor)
		if err != nil {
			panic("unversioned: unversioned.txt: " + err.Error()) // unreachable: a test reads all sections
		}
		all = append(all, section{release(m), text})
	}
	return all
})

// HasOlderTypes reports whether a release, by its minor number, has other types than the
// newest one, which is 0.
func HasOlderTypes(minor int) bool {
	all := sections()
	return len(all) > 1 && minor != 0 && release(minor) <= all[1].release
}

// A structKey identifies a struct in a release.
type structKey struct {
	release
	name string
}

// fieldsOf returns the fields of a struct, nil if there is no such type.
func (r release) fieldsOf(name string) []field {
	if !HasOlderTypes(int(r)) {
		r = newest
	}
	return fieldsOfStruct(structKey{r, name})
}

var fieldsOfStruct = once.PerKey(func(of structKey) []field {
	for _, s := range slices.Backward(sections()) {
		if s.release != newest && (of.release == newest || s.release < of.release) {
			continue
		}
		if _, rest, ok := strings.Cut(s.text, "\n"+of.name+"\t"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			return parseFields(line)
		}
	}
	return nil
})

// parseFields parses the line of a struct, without its name.
func parseFields(line string) (fields []field) {
	for _, text := range strings.Split(line, "\t") {
		parts := strings.Fields(text)
		typ, omitEmpty := strings.CutSuffix(parts[2], ",")
		f := field{name: strconv.Quote(parts[0]) + ":", typ: typ, omitEmpty: omitEmpty}
		if parts[1] != "." {
			f.path = strings.Split(parts[1], ".")
		}
		if len(parts) == 4 {
			f.goName = parts[3]
			if embedded, name, ok := strings.Cut(parts[3], "/"); ok {
				f.embedded, f.goName = embedded, name
			}
		} else {
			f.goName = strings.ToUpper(parts[0][:1]) + parts[0][1:]
		}
		fields = append(fields, f)
	}
	return fields
}

// underlying splits a type with a name, such as core.ResourceName=s, into its name and
// the type that it stands for. The name of other types is "".
func underlying(typ string) (name, of string) {
	if typ != "" && typ[0] != '*' && typ[0] != '[' && typ[0] != '{' {
		if name, of, ok := strings.Cut(typ, "="); ok {
			return name, of
		}
	}
	return "", typ
}

// appendValue appends a value of a type.
func (r release) appendValue(dst []byte, typ string, v any) []byte {
	_, typ = underlying(typ)
	if v == nil {
		return r.appendZero(dst, typ)
	}
	if elem, ok := strings.CutPrefix(typ, "*"); ok {
		return r.appendValue(dst, elem, v)
	}
	v = unionValue(typ, v)
	switch v := v.(type) {
	case []any:
		return r.appendList(dst, strings.TrimPrefix(typ, "[]"), v)
	case map[string]any:
		if elem, ok := strings.CutPrefix(typ, "{}"); ok {
			return r.appendMap(dst, elem, v)
		}
		if fields := r.fieldsOf(typ); fields != nil {
			return r.appendStruct(dst, typ, fields, v)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

// appendZero appends the zero value of a type.
func (r release) appendZero(dst []byte, typ string) []byte {
	switch typ {
	case "s":
		return append(dst, `""`...)
	case "q":
		return append(dst, `"0"`...)
	case "b":
		return append(dst, "false"...)
	case "i", "f", "o":
		return append(dst, '0')
	}
	if fields := r.fieldsOf(typ); fields != nil {
		return r.appendStruct(dst, typ, fields, nil)
	}
	return append(dst, "null"...)
}

func (r release) appendList(dst []byte, elem string, list []any) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.appendValue(dst, elem, v)
	}
	return append(dst, ']')
}

func (r release) appendMap(dst []byte, elem string, m map[string]any) []byte {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(r.appendValue(dst, "s", key), ':')
		dst = r.appendValue(dst, elem, m[key])
	}
	return append(dst, '}')
}

func (r release) appendStruct(dst []byte, typ string, fields []field, v map[string]any) []byte {
	v = r.rearranged(typ, v)
	dst = append(dst, '{')
	first := true
	for _, f := range fields {
		value := object.Value(v, f.path...)
		if f.omitEmpty && (value == nil || f.typ[0] != '*' && isEmpty(value)) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.name...)
		dst = r.appendValue(dst, f.typ, value)
	}
	return append(dst, '}')
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case object.EmptyMap:
		return true
	}
	return false
}

// unionValue returns a value of a JSONSchemaPropsOr type as the struct that has a
// field for each kind of value. It returns values of other types unchanged.
func unionValue(typ string, v any) any {
	_, isObject := v.(map[string]any)
	switch choice, ok := strings.CutPrefix(typ, "apiextensions.JSONSchemaPropsOr"); {
	case !ok:
		return v
	case choice == "Bool" && isObject:
		return map[string]any{"allows": true, "schema": v}
	case isObject:
		return map[string]any{"schema": v}
	case choice == "Bool":
		return map[string]any{"allows": v}
	case choice == "Array":
		return map[string]any{"jSONSchemas": v}
	default:
		return map[string]any{"property": v}
	}
}

// rearranged returns the members of a struct where its type has them in the release.
func (r release) rearranged(typ string, v map[string]any) map[string]any {
	switch {
	case typ == "core.PodSpec" && r.hasField("core.PodSecurityContext", hostFields[0]):
		return withSecurityContext(v)
	case typ == "resource.Device" && r.hasField(typ, "basic"):
		return map[string]any{"name": v["name"], "basic": v}
	case typ == "resource.DeviceRequest" && !r.hasField(typ, "exactly"):
		out := maps.Clone(v)
		maps.Copy(out, object.Map(v, "exactly"))
		return out
	}
	return v
}

// hasField reports whether a struct of the release has a field for a member.
func (r release) hasField(typ, member string) bool {
	return slices.ContainsFunc(r.fieldsOf(typ), func(f field) bool { return f.path[0] == member })
}

// hostFields are the members of a pod's spec that the internal version has in the
// security context in releases before 1.37.
var hostFields = []string{"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"}

// withSecurityContext returns a pod's spec with hostFields in its security
// context.
func withSecurityContext(spec map[string]any) map[string]any {
	context := maps.Clone(object.Map(spec, "securityContext"))
	if context == nil {
		context = map[string]any{}
	}
	moved := maps.Clone(spec)
	if moved == nil {
		moved = map[string]any{}
	}
	for _, name := range hostFields {
		if v, ok := spec[name]; ok {
			context[name] = v
		}
	}
	if spec["securityContext"] != nil || len(context) > 0 {
		moved["securityContext"] = context
	}
	return moved
}

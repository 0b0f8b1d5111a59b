package unversioned

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// rawExtension is the type of untyped data whose bytes are printed.
const rawExtension = "runtime.RawExtension=a"

// address is the value of every pointer in Go syntax. The addresses that
// kube-apiserver prints differ from run to run.
const address = "(0xc000000000)"

// GoSyntax returns the value as errors of releases before v1.34 print it: in Go syntax.
// Types that have a String method with a value receiver are printed by it.
func (v Value) GoSyntax() string {
	typ := strings.TrimPrefix(v.Type, "*")
	_, of := underlying(typ)
	if v.Value == nil && typ != rawExtension && (typ != v.Type || !strings.HasPrefix(of, "[]") && !strings.HasPrefix(of, "{}")) {
		return `"null"`
	}
	switch name, of := underlying(typ); {
	case name == "core.ResourceName":
		return text(v.Value)
	case of == "t":
		if t, err := time.Parse(time.RFC3339, text(v.Value)); err == nil {
			return t.UTC().String()
		}
	}
	return string(release(v.Minor).appendGo(nil, typ, v.Value))
}

// goName returns the name of a type in Go.
func goName(typ string) string {
	switch {
	case strings.HasPrefix(typ, "*"):
		return "*" + goName(typ[1:])
	case strings.HasPrefix(typ, "[]"):
		return "[]" + goName(typ[2:])
	case strings.HasPrefix(typ, "{}"):
		return "map[string]" + goName(typ[2:])
	}
	name, _ := underlying(typ)
	if name == "" {
		name = typ
	}
	if basic, ok := goBasic[name]; ok {
		return basic
	}
	if meta, ok := strings.CutPrefix(name, "metav1."); ok {
		return "v1." + meta
	}
	return name
}

var goBasic = map[string]string{
	"s": "string", "b": "bool", "i": "int", "f": "float64", "q": "resource.Quantity", "o": "intstr.IntOrString", "t": "v1.Time", "a": "interface {}",
}

// appendGo appends a value of a type in Go syntax.
func (r release) appendGo(dst []byte, typ string, v any) []byte {
	if elem, ok := strings.CutPrefix(typ, "*"); ok {
		if elem == "t" { // it has a method for Go syntax
			if v == nil {
				return append(dst, "<nil>"...)
			}
			return appendGoScalar(dst, elem, elem, v)
		}
		dst = append(append(append(dst, "(*"...), goName(elem)...), ')')
		if v == nil {
			return append(dst, "(nil)"...)
		}
		return append(dst, address...)
	}
	if typ == "[]byte" || typ == "[]byte=a" {
		return appendGoBytes(dst, v)
	}
	_, of := underlying(typ)
	v = unionValue(of, v)
	if elem, ok := strings.CutPrefix(of, "[]"); ok {
		list, ok := v.([]any)
		if dst = append(dst, goName(typ)...); !ok {
			return append(dst, "(nil)"...)
		}
		dst = append(dst, '{')
		for i, v := range list {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = r.appendGo(dst, elem, v)
		}
		return append(dst, '}')
	}
	if elem, ok := strings.CutPrefix(of, "{}"); ok {
		m, isMap := v.(map[string]any)
		_, isEmpty := v.(object.EmptyMap)
		if dst = append(dst, goName(typ)...); !isMap && !isEmpty {
			return append(dst, "(nil)"...)
		}
		dst = append(dst, '{')
		for i, key := range slices.Sorted(maps.Keys(m)) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(strconv.AppendQuote(dst, key), ':')
			dst = r.appendGo(dst, elem, m[key])
		}
		return append(dst, '}')
	}
	if fields := r.fieldsOf(of); fields != nil {
		m, _ := v.(map[string]any)
		return r.appendGoStruct(dst, of, fields, m)
	}
	return appendGoScalar(dst, of, typ, v)
}

func (r release) appendGoStruct(dst []byte, typ string, fields []field, v map[string]any) []byte {
	v = r.rearranged(typ, v)
	dst = append(append(dst, goName(typ)...), '{')
	embedded := ""
	for i, f := range fields {
		if embedded != "" && f.embedded != embedded {
			dst = append(dst, '}')
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if f.embedded != "" && f.embedded != embedded {
			_, name, _ := strings.Cut(f.embedded, ".")
			dst = append(append(append(dst, name+":"...), goName(f.embedded)...), '{')
		}
		embedded = f.embedded
		dst = append(append(dst, f.goName...), ':')
		dst = r.appendGo(dst, f.typ, object.Value(v, f.path...))
	}
	if embedded != "" {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendGoScalar(dst []byte, of, typ string, v any) []byte {
	switch of {
	case "s":
		return strconv.AppendQuote(dst, text(v))
	case "q":
		if q, ok := v.(Quantity); ok {
			return q.appendGo(dst)
		}
		return Quantity{Sent: text(v)}.appendGo(dst)
	case "o":
		if n, ok := v.(int64); ok || v == nil {
			return fmt.Appendf(dst, `intstr.IntOrString{Type:0, IntVal:%d, StrVal:""}`, n)
		}
		return fmt.Appendf(dst, "intstr.IntOrString{Type:1, IntVal:0, StrVal:%q}", text(v))
	case "t":
		if t, err := time.Parse(time.RFC3339, text(v)); err == nil {
			return fmt.Appendf(dst, "%#v", t.UTC())
		}
		return append(dst, "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)"...)
	case "b":
		b, _ := v.(bool)
		return strconv.AppendBool(dst, b)
	case "i", "f":
		if v == nil {
			return append(dst, '0')
		}
		return fmt.Append(dst, v)
	}
	if typ == rawExtension {
		raw := []byte(nil)
		if text, ok := v.(object.RawJSON); ok {
			raw = []byte(text)
		}
		return fmt.Appendf(dst, "runtime.RawExtension{Raw:%s, Object:runtime.Object(nil)}", strings.Replace(fmt.Sprintf("%#v", raw), "[]byte", "[]uint8", 1))
	}
	return append(dst, Untyped(v)...)
}

// appendGoBytes appends bytes, which are base64 in objects.
func appendGoBytes(dst []byte, v any) []byte {
	if v == nil {
		return append(dst, "[]byte(nil)"...)
	}
	b, _ := base64.StdEncoding.DecodeString(text(v))
	return fmt.Appendf(dst, "%#v", b)
}

// A suffix is the suffix of a quantity: the power of ten or, of a binary one, of two.
type suffix struct {
	power  int
	format string
}

var suffixes = map[string]suffix{
	"n": {-9, "DecimalSI"}, "u": {-6, "DecimalSI"}, "m": {-3, "DecimalSI"}, "": {0, "DecimalSI"}, "k": {3, "DecimalSI"}, "M": {6, "DecimalSI"},
	"G": {9, "DecimalSI"}, "T": {12, "DecimalSI"}, "P": {15, "DecimalSI"}, "E": {18, "DecimalSI"},
	"Ki": {10, "BinarySI"}, "Mi": {20, "BinarySI"}, "Gi": {30, "BinarySI"}, "Ti": {40, "BinarySI"}, "Pi": {50, "BinarySI"}, "Ei": {60, "BinarySI"},
}

// A Quantity is a quantity as kube-apiserver's parser keeps it: an integer, a power of ten,
// and the text if that is canonical.
type Quantity struct {
	Sent string // the text that was parsed, "" if there was none
	Text string // the canonical text if it was asked for, "" before
}

// GoSyntax returns the quantity in Go syntax.
func (q Quantity) GoSyntax() string { return string(q.appendGo(nil)) }

func (q Quantity) appendGo(dst []byte) []byte {
	text := q.Sent
	if text == "" {
		return fmt.Appendf(dst, `resource.Quantity{i:resource.int64Amount{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:%q, Format:""}`, q.Text)
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	unit, known := suffixes[text[end:]]
	number, exponent, hasExponent := strings.Cut(strings.ReplaceAll(text[:end], "E", "e"), "e")
	whole, fraction, _ := strings.Cut(number, ".")
	value, err := strconv.ParseInt(whole+fraction, 10, 64)
	if !known || err != nil {
		return strconv.AppendQuote(dst, text)
	}
	scale := unit.power - len(fraction)
	digits := strings.TrimLeft(strings.TrimLeft(whole, "+-0")+fraction, "+-")
	if strings.Trim(whole, "+-0") == "" {
		digits = "0" + fraction
	}
	canonical := false
	switch {
	case unit.format == "BinarySI" && !hasExponent:
		canonical = value&7 != 0
		value, scale = value<<unit.power, 0
	default:
		if hasExponent {
			power, _ := strconv.Atoi(exponent)
			unit.format, scale = "DecimalExponent", power-len(fraction)
		}
		canonical = text == "0" || scale%3 == 0 && !strings.HasSuffix(digits, "000") && digits[0] != '0'
	}
	if !canonical {
		text = q.Text
	}
	return fmt.Appendf(dst, `resource.Quantity{i:resource.int64Amount{value:%d, scale:%d}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:%q, Format:%q}`,
		value, scale, text, unit.format)
}

// text returns a string or a named string type, "" for other values.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return ""
}

// Untyped returns a value in Go syntax that has no type but what it holds.
func Untyped(v any) string {
	switch v := v.(type) {
	case nil:
		return "interface {}(nil)"
	case map[string]any:
		return string(newest.appendGo(nil, "{}a", v))
	case object.EmptyMap:
		return "map[string]interface {}{}"
	case []any:
		return string(newest.appendGo(nil, "[]a", v))
	}
	return fmt.Sprintf("%#v", v)
}

// TypeAt returns the type of the value at the path of an error, such as
// "spec.ports[0]", in an object of a group and kind. If the path ends with a key of a map,
// it returns the key and the type of the keys too. It returns "" for a type or a path that
// the newest release does not have.
func TypeAt(group, kind, path string) (typ, key, keyType string) {
	typ, key, keyType, _ = at(group, kind, path)
	return typ, key, keyType
}

// Position returns where the value at the path of an error stands in the Go type: the index of each
// field and element on the path; that of a key of a map is 0. It reports false for a path that the
// newest release does not have.
func Position(group, kind, path string) (position []int, ok bool) {
	typ, _, _, position := at(group, kind, path)
	return position, typ != ""
}

// at is TypeAt and Position.
func at(group, kind, path string) (typ, key, keyType string, position []int) {
	name, domain, _ := strings.Cut(group, ".")
	if domain != "" && !strings.HasSuffix(domain, "k8s.io") {
		return "", "", "", nil
	}
	if name == "" || name == "events" {
		name = "core"
	}
	typ = name + "." + kind
	if newest.fieldsOf(typ) == nil {
		return "", "", "", nil
	}
	for path != "" {
		_, of := underlying(strings.TrimPrefix(typ, "*"))
		if rest, ok := strings.CutPrefix(path, "["); ok {
			index, after, ok := strings.Cut(rest, "]")
			if !ok {
				return "", "", "", nil
			}
			i, _ := strconv.Atoi(index)
			if elem, isMap := strings.CutPrefix(of, "{}"); isMap {
				key, keyType, i = index, "s", 0
				if strings.HasPrefix(typ, "core.ResourceList=") {
					keyType = "core.ResourceName=s"
				}
				typ = elem
			} else if typ, ok = strings.CutPrefix(of, "[]"); !ok {
				return "", "", "", nil
			}
			path, position = after, append(position, i)
			continue
		}
		key, keyType = "", ""
		if typ, path, position = newest.member(of, strings.TrimPrefix(path, "."), position); typ == "" {
			return "", "", "", nil
		}
	}
	return typ, key, keyType, position
}

// member returns the type of the field of a struct with which a path begins, the rest of the path,
// and the position of the struct with the index of the field.
func (r release) member(structType, path string, position []int) (typ, rest string, at []int) {
	for i, f := range r.fieldsOf(structType) {
		after, ok := strings.CutPrefix(path, strings.Join(f.path, "."))
		switch {
		case f.path == nil:
			if typ, rest, at := r.member(f.typ, path, append(position, i)); typ != "" {
				return typ, rest, at
			}
		case ok && (after == "" || after[0] == '.' || after[0] == '['):
			return f.typ, after, append(position, i)
		}
	}
	return "", "", nil
}

// SameShape reports whether two types differ only in the names of types without fields.
func SameShape(a, b string) bool { return a != "" && shape(a) == shape(b) }

// shape returns a type without the names of types without fields, and without pointers.
func shape(typ string) string {
	typ = strings.TrimPrefix(typ, "*")
	if len(typ) > 2 && (typ[0] == '[' || typ[0] == '{') {
		return typ[:2] + shape(typ[2:])
	}
	name, of := underlying(typ)
	if name == "" {
		return typ
	}
	return shape(of)
}

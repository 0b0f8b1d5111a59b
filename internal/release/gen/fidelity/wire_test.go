package fidelity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/gen/scheme"
	"github.com/kubefake/kubefake/internal/wire"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// kinds holds the kinds of the scheme in a fixed order.
var kinds = func() (kinds []kind) {
	for gvk, t := range scheme.New().AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal {
			kinds = append(kinds, kind{gvk, t})
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}()

type kind struct {
	schema.GroupVersionKind
	goType reflect.Type
}

// TestDecode compares package wire with the Go types on random documents of every
// kind: the object, its encoding, the strict errors and the error.
func TestDecode(t *testing.T) { onEveryKind(t, 30, compare) }

func FuzzDecode(f *testing.F) { fuzzKinds(f, compare) }

// compare decodes a document both ways and returns the first difference.
func compare(k kind, doc []byte) string {
	typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
	if !ok {
		return "wire has no such kind"
	}
	if typ.GoName() != k.goType.String() {
		return "wire calls its type " + typ.GoName()
	}
	want := real(k, doc)
	if want.unsure {
		return ""
	}
	obj, strict, err := typ.Decode(doc, wire.DecodeOptions{Strict: true})
	if e, ok := err.(*wire.TypeError); ok && e.GoType == "float64" && !strings.Contains(fmt.Sprint(want.err), "float64") {
		return "" // a number in untyped data; see the package comment
	}
	if fmt.Sprint(err) != fmt.Sprint(want.err) {
		return fmt.Sprintf("error %v\nwant  %v", err, want.err)
	}
	if err != nil {
		return ""
	}
	if fmt.Sprint(strict) != fmt.Sprint(want.strict) {
		return fmt.Sprintf("strict errors %v\nwant          %v", strict, want.strict)
	}
	if got := typ.Append(nil, obj); !bytes.Equal(got, want.encoded) {
		return fmt.Sprintf("encoded %s\nwant    %s", got, want.encoded)
	}
	if path := difference(obj, want.decoded); path != "" {
		return fmt.Sprintf("object %#v\ndiffers from the Go value at %s", obj, path)
	}
	// A patch reads what was answered, where nulls are absent fields.
	again, _, err := typ.Normalize(obj, wire.DecodeOptions{})
	if err != nil {
		return err.Error()
	}
	want = real(k, want.encoded)
	if got := typ.Append(nil, again); !want.unsure && !bytes.Equal(got, want.encoded) {
		return fmt.Sprintf("normalized %s\nwant       %s", got, want.encoded)
	}
	return ""
}

// TestConvert compares Convert with the conversion that kube-apiserver applies to
// the result of a strategic merge patch.
func TestConvert(t *testing.T) { onEveryKind(t, 30, compareConverted) }

// compareConverted converts a document both ways and returns the first
// difference.
func compareConverted(k kind, doc []byte) string {
	obj := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, &obj); err != nil {
		return ""
	}
	typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
	if !ok {
		return "wire has no such kind"
	}
	normal, strict, err := typ.Convert(obj, wire.DecodeOptions{Strict: true})
	var want reflect.Value
	var wantStrict []error
	var wantErr error
	// kube-apiserver walks maps in random order: one of its errors must be this
	// one.
	for range 20 {
		want = reflect.New(k.goType)
		wantErr = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj, want.Interface(), true)
		if strictErr, ok := runtime.AsStrictDecodingError(wantErr); ok {
			wantStrict, wantErr = strictErr.Errors(), nil
		}
		if fmt.Sprint(err) == fmt.Sprint(wantErr) {
			break
		}
	}
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		return fmt.Sprintf("error %v\nwant  %v", err, wantErr)
	}
	if err != nil {
		return ""
	}
	if fmt.Sprint(strict) != fmt.Sprint(wantStrict) {
		return fmt.Sprintf("strict errors %v\nwant          %v", strict, wantStrict)
	}
	encoded, unsure := afterStorage(k, want)
	if got := typ.Append(nil, normal); !unsure && !bytes.Equal(got, encoded) {
		return fmt.Sprintf("converted %s\nwant      %s", got, encoded)
	}
	return ""
}

// difference returns the path of a list or map that only one of an object and a
// Go value has, "" if there is none. An empty list or map counts as one.
func difference(obj any, v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if _, ok := special[v.Type()]; ok || v.Type() == reflect.TypeFor[[]byte]() {
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		m, _ := obj.(map[string]any)
		for name, field := range jsonValues(v) {
			if path := difference(m[name], field); path != "" {
				return "." + name + path
			}
		}
	case reflect.Slice:
		list, ok := obj.([]any)
		if ok == v.IsNil() || len(list) != v.Len() {
			return " (a list)"
		}
		for i, e := range list {
			if path := difference(e, v.Index(i)); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	case reflect.Map:
		m, _ := obj.(map[string]any)
		if (obj != nil) == v.IsNil() || len(m) != v.Len() {
			return " (a map)"
		}
		for name, e := range m {
			elem := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
			if elem.Kind() == reflect.Slice && elem.IsNil() {
				continue // protobuf decodes it as an empty one
			}
			if path := difference(e, elem); path != "" {
				return "[" + name + "]" + path
			}
		}
	}
	return ""
}

// An outcome is the result of decoding a document into the Go type.
type outcome struct {
	decoded reflect.Value
	encoded []byte
	strict  []error
	err     error
	unsure  bool // package wire need not agree
}

// real decodes, stores, reads back and encodes a document as kube-apiserver does.
func real(k kind, doc []byte) outcome {
	obj := reflect.New(k.goType)
	strict, err := kjson.UnmarshalStrict(doc, obj.Interface())
	if err != nil {
		return outcome{err: err}
	}
	encoded, unsure := afterStorage(k, obj)
	return outcome{obj.Elem(), encoded, strict, nil, unsure}
}

// afterStorage returns the encoding of an object after it was stored and read back.
func afterStorage(k kind, obj reflect.Value) (encoded []byte, unsure bool) {
	unsure = !plainRaw(obj.Elem())
	if scheme.StoredAsProtobuf(k.goType) {
		data, err := obj.Interface().(interface{ Marshal() ([]byte, error) }).Marshal()
		if err != nil {
			return nil, true
		}
		typeMeta := obj.Elem().FieldByName("TypeMeta").Interface()
		obj = reflect.New(k.goType)
		if err := obj.Interface().(interface{ Unmarshal([]byte) error }).Unmarshal(data); err != nil {
			return nil, true
		}
		obj.Elem().FieldByName("TypeMeta").Set(reflect.ValueOf(typeMeta))
	} else {
		data, err := json.Marshal(obj.Interface())
		if err != nil {
			return nil, true
		}
		obj = reflect.New(k.goType)
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, obj.Interface()); err != nil {
			return nil, true
		}
		plainRaw(obj.Elem())
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(obj.Interface()); err != nil {
		return nil, true
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), unsure
}

// plainRaw encodes what is normalized as generic values, and reports false if some of it, or of untyped
// data, cannot be decoded.
func plainRaw(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *runtime.RawExtension:
		raw := x.Raw // its text stays
		return plain(&raw)
	case *apiextensionsv1.JSON:
		return plain(&x.Raw)
	case *metav1.FieldsV1:
		raw := x.GetRawBytes()
		ok := plain(&raw)
		x.SetRawBytes(raw)
		return ok && (raw == nil || raw[0] == '{')
	case *metav1.Time, *metav1.MicroTime, *resource.Quantity:
		return true
	}
	ok := true
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || plainRaw(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			ok = plainRaw(v.Field(i)) && ok
		}
	case reflect.Slice:
		for i := range v.Len() {
			ok = plainRaw(v.Index(i)) && ok
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(v.MapIndex(key))
			ok = plainRaw(elem) && ok
			v.SetMapIndex(key, elem)
		}
	}
	return ok
}

func plain(raw *[]byte) bool {
	if *raw == nil {
		return true
	}
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(*raw, &v); err != nil {
		return false
	}
	data, err := json.Marshal(v)
	*raw = data
	return err == nil
}

// TestQuantity compares quantities on random texts.
func TestQuantity(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 0))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	before := ""
	for range 200_000 {
		var b strings.Builder
		b.WriteString(pick("", "", "", "-", "+"))
		for range r.IntN(4) {
			b.WriteString(pick("0", "00", "000", "1", "5", "7", "12", "1024", "512", "999", "123456789"))
		}
		b.WriteString(pick("", "", ".", ".."))
		if r.IntN(2) == 0 {
			b.WriteString(pick("", "0", "5", "500", "001", "123456789123", "000"))
		}
		b.WriteString(pick("", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
			"e3", "e1", "E2", "e-3", "e-10", "e+2", "e", "e40", "K", "i", "x", "ki", "e3e", "m5", " "))
		compareQuantity(t, b.String())
		compareSums(t, before, b.String())
		before = b.String()
	}
}

func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"", "0", "1.5Gi", "+5", ".", "1e-10", "1000E", "-1.5Ki", "e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if i := strings.LastIndexAny(s, "eE"); i >= 0 && len(s)-i > 6 {
			t.Skip("the real parser takes forever over such exponents")
		}
		compareQuantity(t, s)
	})
}

func compareQuantity(t *testing.T, s string) {
	t.Helper()
	got, err := quantity.Canonical(s)
	q, wantErr := resource.ParseQuantity(strings.TrimSpace(s))
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%q: error %v, want %v", s, err, wantErr)
	}
	if err == nil && got != q.String() {
		t.Fatalf("%q: %q, want %q", s, got, q.String())
	}
}

// compareSums compares the sum and the difference of two quantities in their canonical texts, and
// their order.
func compareSums(t *testing.T, s, other string) {
	t.Helper()
	s, err := quantity.Canonical(s)
	if err != nil {
		return
	}
	other, err = quantity.Canonical(other)
	if err != nil {
		return
	}
	a, b := resource.MustParse(s), resource.MustParse(other)
	sum, difference := a.DeepCopy(), a.DeepCopy()
	sum.Add(b)
	difference.Sub(b)
	if got, want := quantity.Add(s, other), sum.String(); got != want {
		t.Fatalf("%q + %q: %q, want %q", s, other, got, want)
	}
	if got, want := quantity.Sub(s, other), difference.String(); got != want {
		t.Fatalf("%q - %q: %q, want %q", s, other, got, want)
	}
	if got, want := quantity.Compare(s, other), a.Cmp(b); got != want {
		t.Fatalf("%q and %q: %d, want %d", s, other, got, want)
	}
}

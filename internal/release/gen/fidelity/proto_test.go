package fidelity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/release/gen/scheme"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

// protoMessage is what generated protobuf code gives a Go type.
type protoMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func TestHasProto(t *testing.T) {
	for _, k := range kinds {
		typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
		require.True(t, ok, k)
		_, want := reflect.New(k.goType).Interface().(protoMessage)
		assert.Equal(t, want, typ.HasProto(), k)
	}
}

// TestProto compares the protobuf of package wire with that of the Go types, on
// random objects of every kind: the bytes they write, and what they read.
func TestProto(t *testing.T) { onEveryKind(t, 30, compareProto) }

func FuzzProto(f *testing.F) { fuzzKinds(f, compareProto) }

// compareProto writes and reads a document's object both ways and returns the
// first difference, "" if there is none or the document does not decode.
func compareProto(k kind, doc []byte) string {
	typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
	if !ok || !typ.HasProto() {
		return ""
	}
	if r := real(k, doc); r.err != nil || r.unsure {
		return ""
	}
	obj, _, err := typ.Decode(doc, wire.DecodeOptions{})
	if err != nil {
		return ""
	}
	want, err := encodedProto(k, doc)
	if err != nil {
		return ""
	}
	got := typ.AppendProto([]byte("before"), obj)[len("before"):]
	if !bytes.Equal(got, want) && bytes.Contains(doc, []byte("null")) { // nil bytes are empty after they were stored
		if obj, _, err = typ.Decode(typ.Append(nil, obj), wire.DecodeOptions{}); err != nil {
			return "stored: " + err.Error()
		}
		got = typ.AppendProto([]byte("before"), obj)[len("before"):]
	}
	if !bytes.Equal(got, want) {
		return fmt.Sprintf("protobuf %q\nwant     %q", got, want)
	}
	return compareBytes(k, want)
}

// encodedProto returns the protobuf of a document's object as kube-apiserver
// serves it after storing it.
func encodedProto(k kind, doc []byte) ([]byte, error) {
	obj := reflect.New(k.goType)
	if _, ok := obj.Interface().(protoMessage); !ok {
		return nil, errors.New("no protobuf")
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, obj.Interface()); err != nil {
		return nil, err
	}
	plainRaw(obj.Elem())
	again := reflect.New(k.goType)
	if scheme.StoredAsProtobuf(k.goType) {
		data, err := obj.Interface().(protoMessage).Marshal()
		if err != nil {
			return nil, err
		}
		if err := again.Interface().(protoMessage).Unmarshal(data); err != nil {
			return nil, err
		}
		dropHidden(again.Elem())
	} else {
		data, err := json.Marshal(obj.Interface())
		if err != nil {
			return nil, err
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, again.Interface()); err != nil {
			return nil, err
		}
		plainRaw(again.Elem())
	}
	return again.Interface().(protoMessage).Marshal()
}

// dropHidden removes the state of Go values that JSON does not encode: the
// difference between nil and empty bytes with omitempty, and the unused half of
// an IntOrString.
func dropHidden(v reflect.Value) {
	if port, ok := v.Addr().Interface().(*intstr.IntOrString); ok {
		if port.Type == intstr.Int {
			port.StrVal = ""
		} else {
			port.IntVal = 0
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dropHidden(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type == reflect.TypeFor[[]byte]() && v.Field(i).Len() == 0 && strings.Contains(f.Tag.Get("json"), "omitempty") {
				v.Field(i).SetZero()
			} else if f.IsExported() {
				dropHidden(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			dropHidden(v.Index(i))
		}
	}
}

// TestDamagedProto compares the results of decoding damaged encodings: both sides
// decode the same object or both fail.
func TestDamagedProto(t *testing.T) {
	g := &documents{Rand: rand.New(rand.NewPCG(*seed, 0))}
	rounds := 40
	if testing.Short() {
		rounds = 4
	}
	for _, k := range kinds {
		for range rounds {
			data, err := encodedProto(k, g.document(k.goType))
			if err != nil || len(data) == 0 {
				continue
			}
			for range 1 + g.IntN(3) {
				switch i := g.IntN(len(data)); g.IntN(4) {
				case 0:
					data[i] = byte(g.IntN(256))
				case 1:
					data = data[:i+1]
				case 2:
					data = append(data, data[i:]...)
				case 3:
					data[i]++
				}
			}
			if diff := compareBytes(k, data); diff != "" {
				t.Fatalf("%v\n%q\n%s", k, data, diff)
			}
		}
	}
}

func FuzzDamagedProto(f *testing.F) {
	g := &documents{Rand: rand.New(rand.NewPCG(5, 6))}
	for i, k := range kinds {
		if data, err := encodedProto(k, g.document(k.goType)); err == nil {
			f.Add(uint16(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, i uint16, data []byte) {
		k := kinds[int(i)%len(kinds)]
		if diff := compareBytes(k, data); diff != "" {
			t.Fatalf("%v\n%q\n%s", k, data, diff)
		}
	})
}

func compareBytes(k kind, data []byte) string {
	typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
	if !ok || !typ.HasProto() {
		return ""
	}
	got, err := typ.DecodeProto(data)
	obj := reflect.New(k.goType)
	wantErr := obj.Interface().(protoMessage).Unmarshal(data)
	if wantErr != nil {
		// Errors name Go fields, and the table does not have all names.
		if err == nil || !strings.HasPrefix(wantErr.Error(), "proto: wrong wireType") && err.Error() != wantErr.Error() {
			return fmt.Sprintf("error %v\nwant  %v", err, wantErr)
		}
		return ""
	}
	encoded, wantErr := json.Marshal(obj.Interface())
	if wantErr != nil {
		return "" // kube-apiserver could store the object but not answer it
	}
	if syntaxErr, typeErr := new(json.SyntaxError), new(wire.TypeError); errors.As(err, &syntaxErr) || errors.As(err, &typeErr) {
		return "" // in untyped data, which a Go type keeps without parsing it
	}
	if err != nil {
		return fmt.Sprintf("error %v\nwant  %s", err, encoded)
	}
	if !plainRaw(obj.Elem()) {
		return ""
	}
	if encoded, err = json.Marshal(obj.Interface()); err != nil {
		return ""
	}
	if !scheme.StoredAsProtobuf(k.goType) {
		// Storing such an object as JSON drops what JSON does not encode.
		if got, _, err = typ.Normalize(got, wire.DecodeOptions{}); err != nil {
			return ""
		}
		want, _, err := typ.Decode(encoded, wire.DecodeOptions{})
		if err != nil {
			return err.Error()
		}
		encoded = typ.Append(nil, want)
	}
	// Canonical strings are valid UTF-8; Go escapes what is not.
	encoded = bytes.ReplaceAll(encoded, []byte(`\ufffd`), []byte("\ufffd"))
	if got := typ.Append(nil, got); !bytes.Equal(got, encoded) {
		return fmt.Sprintf("object %s\nwant   %s", got, encoded)
	}
	return ""
}

package fidelity

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	kjson "sigs.k8s.io/json"
)

// TestCBOR compares the CBOR of package wire with that of kube-apiserver's
// serializer, on random objects of every kind.
func TestCBOR(t *testing.T) {
	serializer := cbor.NewSerializer(serverScheme, serverScheme)
	onEveryKind(t, 20, func(k kind, doc []byte) string { return compareCBOR(k, doc, serializer) })
}

func compareCBOR(k kind, doc []byte, serializer runtime.Encoder) string {
	typ, ok := wire.ForKind(k.Group, k.Version, k.Kind)
	if !ok {
		return ""
	}
	canonical, _, err := typ.Decode(doc, wire.DecodeOptions{})
	if err != nil {
		return ""
	}
	want, err := serverCBOR(k, typ.Append(nil, canonical), serializer)
	if err != nil {
		return ""
	}
	// The Go type does not distinguish a member that is absent from one that is
	// null.
	answered, _, err := typ.Decode(typ.Append(nil, canonical), wire.DecodeOptions{})
	if err != nil {
		return err.Error()
	}
	if got := typ.AppendCBOR(nil, answered); !bytes.Equal(got, want) {
		return fmt.Sprintf("cbor %q\nwant %q", got, want)
	}
	return ""
}

// serverCBOR decodes JSON and encodes it as CBOR as kube-apiserver does.
func serverCBOR(k kind, doc []byte, serializer runtime.Encoder) ([]byte, error) {
	obj := reflect.New(k.goType)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, obj.Interface()); err != nil {
		return nil, err
	}
	if !plainRaw(obj.Elem()) {
		return nil, fmt.Errorf("untyped data without a generic form")
	}
	var b bytes.Buffer
	err := serializer.Encode(obj.Interface().(runtime.Object), &b)
	return bytes.TrimPrefix(b.Bytes(), []byte("\xd9\xd9\xf7")), err
}

// TestCBORNumbers compares numbers at the limits of their encodings.
func TestCBORNumbers(t *testing.T) {
	scheme := runtime.NewScheme()
	serializer := cbor.NewSerializer(scheme, scheme)
	for _, number := range []string{
		"0", "-1", "23", "24", "-24", "-25", "255", "256", "65535", "65536", "4294967295", "4294967296",
		"9223372036854775807", "-9223372036854775808", "1.0", "-0.0", "0.5", "1.5", "65504.0", "65505.0", "65520.0",
		"6.103515625e-05", "5.960464477539063e-08", "2.9802322387695312e-08", "0.000061005353927612305",
		"0.1", "3.4028234663852886e+38", "1e300", "1.401298464324817e-45", "16777216.0", "16777217.0", "1e-7", "2049.0",
	} {
		t.Run(number, func(t *testing.T) {
			doc := []byte(`{"n":` + number + `}`)
			generic, _, err := wire.DecodeUntyped(doc, wire.DecodeOptions{})
			require.NoError(t, err)
			var obj map[string]any
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(doc, &obj))
			var b bytes.Buffer
			require.NoError(t, serializer.Encode(&unstructured.Unstructured{Object: obj}, &b))
			require.Equal(t, b.Bytes(), wire.AppendCBOR([]byte("\xd9\xd9\xf7"), generic))
		})
	}
}

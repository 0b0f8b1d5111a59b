package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// protobufCodec encodes and decodes the built-in types.
var protobufCodec = func() *protobuf.Serializer {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(s); err != nil {
			panic(err) // unreachable: the types do not conflict
		}
	}
	metav1.AddToGroupVersion(s, metav1.SchemeGroupVersion)
	typed = serializer.NewCodecFactory(s).UniversalDeserializer()
	return protobuf.NewSerializer(s, s)
}()

// sorted writes maps in the order of their keys.
var sorted = func() cbor.EncMode {
	mode, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical}.EncMode()
	if err != nil {
		panic(err) // unreachable: the options are valid
	}
	return mode
}()

// typed decodes the JSON of the built-in types.
var typed runtime.Decoder

// encode returns the bytes of a body: of JSON in a media type, or of hexadecimal digits.
// What has no protobuf encoding is left as it is.
func encode(body, encoding string) []byte {
	switch {
	case encoding == "hex":
		b, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
		if err != nil {
			panic(err) // unreachable: the bodies are constants
		}
		return b
	case strings.HasSuffix(encoding, "cbor"):
		var v any
		d := json.NewDecoder(strings.NewReader(body))
		d.UseNumber()
		if d.Decode(&v) == nil {
			if b, err := sorted.Marshal(cborValue(v)); err == nil {
				return append([]byte{0xd9, 0xd9, 0xf7}, b...)
			}
		}
	case encoding == "application/yaml":
		if b, err := yaml.JSONToYAML([]byte(body)); err == nil {
			return b
		}
	case encoding == protobufType:
		if o, kind, err := typed.Decode([]byte(body), nil, nil); err == nil {
			o.GetObjectKind().SetGroupVersionKind(*kind)
			var b bytes.Buffer
			if protobufCodec.Encode(o, &b) == nil {
				return b.Bytes()
			}
		}
	}
	return []byte(body)
}

// cborValue returns a value of JSON as clients of Kubernetes send it: its texts are byte
// strings.
func cborValue(v any) any {
	switch t := v.(type) {
	case object:
		for k, e := range t {
			t[k] = cborValue(e)
		}
	case list:
		for i, e := range t {
			t[i] = cborValue(e)
		}
	case string:
		return cbor.ByteString(t)
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n
		}
		if n, err := t.Float64(); err == nil {
			return n
		}
	}
	return v
}

// fromProtobuf returns the values of an object in protobuf.
func fromProtobuf(raw []byte) (any, error) {
	o, kind, err := protobufCodec.Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(*kind)
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return out, d.Decode(&out)
}

// eventsFromProtobuf returns the events of a watch in protobuf.
func eventsFromProtobuf(raw []byte) (list, error) {
	out := list{}
	for len(raw) > 0 {
		if len(raw) < 4 || len(raw)-4 < int(binary.BigEndian.Uint32(raw)) {
			return nil, fmt.Errorf("%d bytes of an event", len(raw))
		}
		frame := raw[4 : 4+binary.BigEndian.Uint32(raw)]
		raw = raw[4+len(frame):]
		var event metav1.WatchEvent
		if err := event.Unmarshal(frame); err != nil {
			return nil, err
		}
		o, err := fromProtobuf(event.Object.Raw)
		if err != nil {
			return nil, err
		}
		out = append(out, object{"type": event.Type, "object": o})
	}
	return out, nil
}

// fromCBOR returns the values of a sequence in CBOR.
func fromCBOR(raw []byte) (list, error) {
	out := list{}
	for len(raw) > 0 {
		var v any
		rest, err := cbor.UnmarshalFirst(raw, &v)
		if err != nil {
			return nil, err
		}
		raw = rest
		out = append(out, jsonValue(v))
	}
	return out, nil
}

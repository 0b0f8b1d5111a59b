package codec

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/wire"
)

// A Format is an encoding of objects. The zero Format is JSON.
type Format uint8

// The formats, in the order in which kube-apiserver lists them.
const (
	JSON Format = iota
	YAML
	Protobuf
	CBOR
)

// formats are all formats. CBOR is the last one, which not every server supports.
var formats = [...]Format{JSON, YAML, Protobuf, CBOR}

// mediaTypes are the media types of the formats.
var mediaTypes = [...]string{
	JSON:     "application/json",
	YAML:     "application/yaml",
	Protobuf: "application/vnd.kubernetes.protobuf",
	CBOR:     "application/cbor",
}

// MediaType returns the media type of one object in the format.
func (f Format) MediaType() string { return mediaTypes[f] }

// StreamMediaType returns the media type of a watch in the format. It is "" for
// YAML, which does not support watches.
func (f Format) StreamMediaType() string {
	switch f {
	case JSON:
		return mediaTypes[JSON]
	case Protobuf:
		return mediaTypes[Protobuf] + ";stream=watch"
	case CBOR:
		return mediaTypes[CBOR] + "-seq"
	}
	return ""
}

// Append appends an object, or a whole list, to dst. doc is its JSON as the
// server encodes it, with or without a newline at the end. t is its type, nil
// for a custom resource. JSON is appended unchanged, with a newline.
//
// Append panics if doc is not such JSON, and for protobuf if the type has no
// protobuf encoding. It keeps no part of doc.
func (f Format) Append(dst, doc []byte, t *wire.Type) []byte {
	switch f {
	case YAML:
		text, err := yaml.JSONToYAML(doc)
		if err != nil {
			panic("codec: " + err.Error())
		}
		return append(dst, text...)
	case Protobuf:
		return appendEnvelope(dst, t, decode(doc, t))
	case CBOR:
		return appendCBOR(dst, t, decode(doc, t))
	}
	return append(append(dst, bytes.TrimSuffix(doc, newline)...), '\n')
}

var newline = []byte{'\n'}

// AppendPretty appends indented JSON, without a newline at the end.
func AppendPretty(dst, doc []byte) []byte {
	b := bytes.NewBuffer(dst)
	if err := json.Indent(b, bytes.TrimSuffix(doc, newline), "", "  "); err != nil {
		panic("codec: " + err.Error())
	}
	return b.Bytes()
}

// decode decodes JSON that the server has encoded.
func decode(doc []byte, t *wire.Type) map[string]any {
	var obj map[string]any
	var err error
	if t != nil {
		obj, _, err = t.Decode(doc, wire.DecodeOptions{})
	} else {
		obj, _, err = wire.DecodeUntyped(doc, wire.DecodeOptions{})
	}
	if err != nil {
		panic("codec: " + err.Error())
	}
	return obj
}

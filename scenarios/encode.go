package scenarios

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// encodeBody encodes a body in a media type. It is the inverse of decodeBody.
func encodeBody(contentType string, v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	format := formatOf(contentType)
	if text, ok := v.(string); ok && !strings.HasPrefix(contentType, codec.JSON.MediaType()) {
		return []byte(text), nil
	}
	b, err := marshal(v)
	if err != nil || format == codec.JSON || format == codec.YAML {
		return format.Append(nil, b, nil), err
	}
	t := typeOf(v)
	if t == nil || !t.HasProto() {
		return nil, fmt.Errorf("the kind of the object has no %s encoding", contentType)
	}
	if _, _, err := t.Decode(b, wire.DecodeOptions{}); err != nil {
		return nil, err
	}
	return format.Append(nil, b, t), nil
}

// encodeEvent encodes a watch event in a media type.
func encodeEvent(contentType string, e any) ([]byte, error) {
	event, _ := e.(map[string]any)
	if formatOf(contentType) == codec.JSON || event == nil {
		return encodeBody(codec.JSON.MediaType(), e)
	}
	object, err := encodeBody(contentType, event["object"])
	return formatOf(contentType).AppendEvent(nil, fmt.Sprint(event["type"]), object), err
}

func formatOf(contentType string) codec.Format {
	for _, f := range []codec.Format{codec.YAML, codec.Protobuf, codec.CBOR} {
		if strings.HasPrefix(contentType, f.MediaType()) {
			return f
		}
	}
	return codec.JSON
}

// typeOf returns the built-in type of a document, nil if it has none.
func typeOf(v any) *wire.Type {
	o, _ := v.(map[string]any)
	gv, _ := resource.ParseGroupVersion(object.String(o, "apiVersion")) // an invalid version has no type
	if t, ok := wire.ForKind(gv.Group, gv.Version, object.String(o, "kind")); ok {
		return t
	}
	t, _ := wire.ForKind("meta.k8s.io", "v1", object.String(o, "kind"))
	return t
}

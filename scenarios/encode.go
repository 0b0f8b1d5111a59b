package scenarios

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// encodeBody is a body in a media type, the opposite of decodeBody.
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
		return nil, fmt.Errorf("%s has no known form for it", contentType)
	}
	if _, _, err := t.Decode(b, wire.DecodeOptions{}); err != nil {
		return nil, err
	}
	return format.Append(nil, b, t), nil
}

// encodeEvent is an event in a media type.
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

// typeOf is the built-in type of a document, nil if it is of none.
func typeOf(v any) *wire.Type {
	o, _ := v.(map[string]any)
	gv, _ := resource.ParseGroupVersion(object.String(o, "apiVersion")) // what is none is no type's
	if t, ok := wire.ForKind(gv.Group, gv.Version, object.String(o, "kind")); ok {
		return t
	}
	t, _ := wire.ForKind("meta.k8s.io", "v1", object.String(o, "kind"))
	return t
}

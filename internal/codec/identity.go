package codec

import (
	"encoding/binary"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/wire"
)

// An Identity has the metadata that identifies a version of an object.
type Identity struct {
	Name            string `json:"name"`
	GenerateName    string `json:"generateName"`
	Namespace       string `json:"namespace"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// An identified is an object of any kind, or a Table of one.
type identified struct {
	Metadata Identity `json:"metadata"`
	Rows     []struct {
		Object struct {
			Metadata Identity `json:"metadata"`
		} `json:"object"`
	} `json:"rows"`
}

func (o *identified) identity() Identity {
	if len(o.Rows) == 1 {
		return o.Rows[0].Object.Metadata
	}
	return o.Metadata
}

// Identify returns the identity of an object in this format, or of the object of a Table
// with one row. What cannot be read is empty.
func (f Format) Identify(object []byte) Identity {
	var o identified
	switch f {
	case Protobuf:
		return identifyProto(object)
	case CBOR:
		if cborMode().Unmarshal(object, &o) != nil {
			return Identity{}
		}
		return o.identity()
	case YAML:
		object, _ = yaml.YAMLToJSON(object)
	}
	if json.Unmarshal(object, &o) != nil {
		return Identity{}
	}
	return o.identity()
}

// identifyProto reads the first field of a message, which is the metadata in those of all
// kinds.
func identifyProto(object []byte) Identity {
	e, err := wire.ParseEnvelope(object)
	t, ok := wire.ForKind("meta.k8s.io", "v1", "PartialObjectMetadata")
	if err != nil || !ok || e.Kind == "Table" || e.Kind == "Status" {
		return Identity{}
	}
	obj, err := t.DecodeProto(e.Raw)
	if err != nil {
		return Identity{}
	}
	meta, _ := obj["metadata"].(map[string]any)
	text := func(name string) string {
		s, _ := meta[name].(string)
		return s
	}
	return Identity{Name: text("name"), GenerateName: text("generateName"), Namespace: text("namespace"), UID: text("uid"), ResourceVersion: text("resourceVersion")}
}

// IdentifyEvent returns the type and the identity of the object of an event. What cannot
// be read is empty.
func (f Format) IdentifyEvent(event []byte) (typ string, o Identity) {
	switch f {
	case Protobuf:
		return f.EventType(event), identifyProto(protoEventObject(event))
	case CBOR:
		var e struct {
			Object identified `json:"object"`
		}
		if cborMode().Unmarshal(event, &e) == nil {
			o = e.Object.identity()
		}
		return f.EventType(event), o
	}
	var e struct {
		Type   string     `json:"type"`
		Object identified `json:"object"`
	}
	if json.Unmarshal(event, &e) != nil {
		return "", Identity{}
	}
	return e.Type, e.Object.identity()
}

// protoEventObject returns the object of an event in protobuf, nil if it has none. See
// AppendEvent.
func protoEventObject(event []byte) []byte {
	if len(event) < 4 {
		return nil
	}
	_, rest := protoBytes(1, event[4:])
	object, _ := protoBytes(2, rest)
	object, _ = protoBytes(1, object)
	return object
}

// protoBytes returns the value of the field of bytes with this number at the start of a
// message, and what follows it. Both are nil without such a field.
func protoBytes(number byte, message []byte) (value, rest []byte) {
	if len(message) == 0 || message[0] != number<<3|2 {
		return nil, nil
	}
	n, size := binary.Uvarint(message[1:])
	if size <= 0 || n > uint64(len(message)-1-size) {
		return nil, nil
	}
	start := 1 + size
	return message[start : start+int(n)], message[start+int(n):]
}

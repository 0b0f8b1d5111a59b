package wire

import "sync"

// customResource is the type of custom resources, untyped objects whose metadata is an ObjectMeta.
var customResource = sync.OnceValue(func() *Type {
	return &Type{root: &node{kind: kindCustomResource, elem: objectMeta().root}}
})

// DecodeCustom decodes a custom resource in one pass. It returns what [DecodeUntyped] returns, with
// the metadata in the canonical form of [ObjectMeta].
//
// It reports false for a document that does not decode or has duplicate fields, and for one whose
// metadata is not an object or has unknown fields: DecodeUntyped and Normalize of ObjectMeta return
// the errors of these.
func DecodeCustom(data []byte) (obj map[string]any, ok bool) {
	return decodeCustom(data, DecodeOptions{})
}

// DecodeCustomIdentified is DecodeCustom for a body of which Identify has not been called. It also
// reports false if Identify would fail or find another kind or apiVersion than those of obj, which
// must be strings. live is as in [DecodeOptions]; only its field sets are compared.
func DecodeCustomIdentified(data []byte, live *Live) (obj map[string]any, ok bool) {
	return decodeCustom(data, DecodeOptions{identified: true, Live: live})
}

func decodeCustom(data []byte, o DecodeOptions) (obj map[string]any, ok bool) {
	o.Strict = true
	obj, fieldErrors, err := customResource().Decode(data, o)
	return obj, err == nil && len(fieldErrors) == 0
}

// customResource reads a custom resource. metadata is the type of its metadata.
func (d *decoder) customResource(metadata *node) (any, bool) {
	if d.peek() != '{' || !d.enter() {
		return d.fail(errSyntax)
	}
	d.strictRaw = true
	obj := map[string]any{}
	for first := true; ; first = false {
		more, ok := d.next('}', first)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			return obj, true
		}
		key, ok := d.key()
		if !ok {
			return d.fail(errSyntax)
		}
		if _, twice := obj[key]; twice {
			d.report(DuplicateField, key)
		}
		n := untyped
		switch {
		case key == "metadata":
			n = metadata
			if d.space(); d.peek() != '{' {
				return d.fail(errNoMetadata)
			}
		case d.identified && key != "kind" && key != "apiVersion" && namesType(key):
			return d.fail(errOtherCase)
		}
		d.path = append(d.path, step{key: key, index: -1})
		if obj[key], ok = d.value(n, nil); !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
	}
}

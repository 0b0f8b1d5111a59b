package wire

import "fmt"

// untypedObject is the type of an untyped object.
var untypedObject = &Type{root: untypedMap}

// DecodeUntyped decodes an untyped JSON object, such as a merge patch. The
// literal null is an empty object. Numbers become int64 if they are integers
// that fit, else float64. With o.Strict, fieldErrors has a FieldError for each
// duplicate field. The error and the ownership of the result are as in
// [Type.Decode].
func DecodeUntyped(data []byte, o DecodeOptions) (obj map[string]any, fieldErrors []error, err error) {
	v, fieldErrors, err := untypedObject.decode(data, o)
	if err != nil {
		return nil, nil, err
	}
	obj, _ = v.(map[string]any)
	if obj == nil {
		obj = map[string]any{}
	}
	return obj, fieldErrors, nil
}

// DecodeAny decodes a JSON object without a type: numbers become int64 if they
// are integers that fit, else float64. Its errors are those of [Type.Decode];
// JSON that is not an object is an error.
func DecodeAny(data []byte) (map[string]any, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	v, err := d.document(string(data))
	if err != nil {
		return nil, err
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("wire: %T for an object", v)
	}
	return obj, nil
}

// AppendAny appends the JSON encoding of a value without a type to dst, as
// [Type.Append] encodes untyped members.
func AppendAny(dst []byte, v any) []byte { return appendAny(dst, v) }

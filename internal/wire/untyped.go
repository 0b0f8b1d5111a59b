package wire

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

// AppendString appends a quoted string to dst, as [Type.Append] encodes strings.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s) }

// AppendAny appends the JSON encoding of a value without a type to dst, as
// [Type.Append] encodes untyped members.
func AppendAny(dst []byte, v any) []byte { return appendAny(dst, v) }

package wire

// untypedObject is the type of an object of which nothing is known.
var untypedObject = &Type{root: untypedMap}

// DecodeUntyped reads a JSON object of no type, such as a merge patch; the
// literal null is an empty one. Numbers become int64 where they can, else
// float64. With o.Strict, each duplicate field gives a FieldError. The error and
// the ownership of the result are as with [Type.Decode].
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

// operations is the Go type into which the server decodes a JSON Patch when it
// looks for mistakes in it.
var operations = func() *Type {
	operation := &node{kind: kindStruct, name: "jsonPatchOp", goType: "handlers.jsonPatchOp"}
	for _, name := range []string{"op", "path", "from"} {
		operation.addField(field{name: name, errorName: name, node: plainString})
	}
	operation.addField(field{name: "value", errorName: "value", node: untyped})
	return &Type{root: &node{kind: kindSlice, elem: operation, goType: "[]handlers.jsonPatchOp"}}
}()

// CheckJSONPatch returns a FieldError for each unknown and each duplicate field
// of a JSON Patch. The error is that of a patch whose operations are none, as
// with [Type.Decode].
func CheckJSONPatch(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = operations.decode(patch, DecodeOptions{Strict: true})
	return fieldErrors, err
}

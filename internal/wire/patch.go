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

// operations is the Go type into which kube-apiserver decodes a JSON Patch to
// check its fields.
var operations = func() *Type {
	operation := &node{kind: kindStruct, name: "jsonPatchOp", goType: "handlers.jsonPatchOp"}
	for _, name := range []string{"op", "path", "from"} {
		operation.addField(field{name: name, errorName: name, node: plainString})
	}
	operation.addField(field{name: "value", errorName: "value", node: untyped})
	return &Type{root: &node{kind: kindSlice, elem: operation, goType: "[]handlers.jsonPatchOp"}}
}()

// CheckJSONPatch returns a FieldError for each unknown and each duplicate field
// of a JSON Patch. The error is that of a patch that is not a list of
// operations, as in [Type.Decode].
func CheckJSONPatch(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = operations.decode(patch, DecodeOptions{Strict: true})
	return fieldErrors, err
}

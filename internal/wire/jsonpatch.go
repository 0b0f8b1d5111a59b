package wire

// operations is the Go type into which kube-apiserver decodes a JSON Patch to
// check its fields.
var operations = func() *Type {
	operation := &node{kind: kindStruct, name: "jsonPatchOp", goType: "handlers.jsonPatchOp"}
	for _, name := range []string{"op", "path", "from"} {
		operation.addField(field{name: name, errorName: name, node: plainString})
	}
	operation.addField(field{name: "value", errorName: "value", node: untyped})
	operation.indexFields()
	return &Type{root: &node{kind: kindSlice, elem: operation, goType: "[]handlers.jsonPatchOp"}}
}()

// CheckJSONPatch returns a FieldError for each unknown and each duplicate field
// of a JSON Patch. The error is that of a patch that is not a list of
// operations, as in [Type.Decode].
func CheckJSONPatch(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = operations.decode(patch, DecodeOptions{Strict: true})
	return fieldErrors, err
}

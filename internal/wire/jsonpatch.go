package wire

// operations is the Go type into which kube-apiserver decodes a JSON Patch to
// check its fields.
var operations = func() *Type {
	operation := &node{kind: kindStruct, name: "jsonPatchOp", goType: "handlers.jsonPatchOp"}
	for _, name := range []string{"op", "path", "from"} {
		operation.addField(field{name: name, errorName: name, node: plainString})
	}
	operation.addField(field{name: "value", errorName: "value", node: untyped, pointer: true})
	operation.indexFields()
	return &Type{root: &node{kind: kindSlice, elem: operation, goType: "[]handlers.jsonPatchOp"}}
}()

// DecodeJSONPatch decodes a JSON Patch. An operation has no value if that is null, and no other
// member that is empty. fieldErrors has a FieldError for each unknown and each duplicate field. The
// error is that of a patch that is not a list of operations, as in [Type.Decode].
func DecodeJSONPatch(patch []byte) (list []any, fieldErrors []error, err error) {
	v, fieldErrors, err := operations.decode(patch, DecodeOptions{Strict: true})
	list, _ = v.([]any)
	return list, fieldErrors, err
}

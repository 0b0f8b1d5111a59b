// Package wire decodes and encodes objects of Kubernetes' built-in kinds as
// kube-apiserver does, without linking its Go types.
//
// kube-apiserver decodes a body into Go structs, stores them and encodes them
// again. The structs determine much of its behaviour: which fields are unknown,
// the text of errors, which zero values are left out or added, the order of
// fields. Package wire has the same facts in a table and applies them to
// objects of the form map[string]any.
//
// # Canonical objects
//
// [Type.Decode], [Type.Normalize] and [Type.Convert] return objects in
// canonical form. A canonical object has exactly the members that
// kube-apiserver would return after storing the object and reading it back,
// plus the lists and maps that were given without elements, and the nulls in maps
// of bytes or lists, which a Go struct keeps until it is stored. [Type.Append]
// encodes them as they are after that: omitted, null or empty.
// Values are string, bool, int64, float64 (in floating-point fields, and in the
// JSON in the schema of a CustomResourceDefinition for numbers that are not int64),
// map[string]any and []any, [object.EmptyMap] in fields that are maps, not structs,
// and the texts [object.RawJSON] and [object.FieldsV1]. A nil is encoded as null:
// for instance an empty list in the field rules of a Role, which has no omitempty.
//
// Untyped data (runtime.RawExtension) keeps its bytes, as kube-apiserver stores it
// in protobuf: its text is an [object.RawJSON]. JSON is written as encoding/json
// writes a json.RawMessage: compact, with <, > and & escaped. That of an [Encoded] is
// what clients read; it has the texts beside it if they are others.
//
// Differs from kube-apiserver: duplicate members: if a body has a quantity or a
// port more than once and the last is a null, kube-apiserver may use an earlier
// value. Here the quantity is 0, and the port is the value before the null.
// Request: POST of a body with such duplicates.
//
// # The table
//
// The file wiretypes.zip of package release/data is generated from the Go types.
// Its entries are text files: index maps group versions to Go packages, and a
// file for each package declares its types, one per line, with the fields of a
// struct indented below it:
//
//	type PodPhase string
//	custom Time
//	struct Volume
//	 name string - bytes,1,opt
//	 VolumeSource k8s.io/api/core/v1.VolumeSource i bytes,2,opt
//
// A type after "custom" has its own encoding and decoding methods, which this
// package implements under its name. A struct marked "kind" is registered for
// its group version. A struct also marked "protobuf" is stored in protobuf,
// which for instance turns an empty list into a null. A field has its JSON
// name, its Go type, flags (e omitempty, z omitzero, i inline, - none) and the
// head of its protobuf tag, if it has one. An inline field has its Go name.
//
// A file below a number, such as 36/index, has what that minor release and those before it
// have in place of the newest release's. "absent NAME" stands for what they do not have.
//
// The file of a package is decompressed on the first use of one of its kinds. A
// struct is parsed on the first use of a kind that contains it.
package wire

// Package wire reads and writes objects of Kubernetes' built-in kinds as a
// kube-apiserver does, without linking its Go types.
//
// A kube-apiserver decodes a body into Go structs, stores them and encodes them
// again. Much that a client sees follows from those structs alone: which fields
// are unknown, the text of an error, which zero values are left out and which
// are added, the order of fields. Package wire has the same facts in a table and
// applies them to objects of the form map[string]any.
//
// # Canonical objects
//
// [Type.Decode], [Type.Normalize] and [Type.Convert] return objects in canonical
// form: exactly the members the server would answer after storing the object and
// reading it back, as if its answer had been decoded into an any, and besides the
// lists and maps that came without elements, which a Go struct holds until it is
// stored. [Type.Append] leaves those out, or makes them null. Values are
// string, bool, int64, float64 (in floating-point fields, and in untyped data
// where a number is no int64), map[string]any and []any, and [object.EmptyMap] in
// fields that are maps, not structs. A nil stands where the
// answer has a null: for instance in the field rules of a Role, which has no
// omitempty, when the list is empty.
//
// Data whose form the type leaves open (runtime.RawExtension, FieldsV1, the JSON
// of a CustomResourceDefinition's schema) becomes generic values.
//
// Differs from kube-apiserver: that keeps the bytes of such data, so that the
// order of members and the spelling of numbers survive in its answers; here
// members are sorted, and a number beyond the range of a float64 is an error.
//
// Differs from kube-apiserver: where a body gives a quantity or a port more than
// once and the last is a null, that may answer with an earlier value; here a
// quantity is 0 then, and a port what the value before the null says.
//
// # The table
//
// The file wiretypes.zip of package release/data is generated from the Go types.
// Its entries are texts: the file index, which maps group versions to Go
// packages, and a file for each package, which declares its types a line each,
// the fields of a struct indented below it:
//
//	type PodPhase string
//	custom Time
//	struct Volume
//	 name string - bytes,1,opt
//	 VolumeSource k8s.io/api/core/v1.VolumeSource i bytes,2,opt
//
// A type after "custom" has methods that encode and decode it, known to this
// package by its name. A struct marked "kind" is registered for its group
// version; one marked "protobuf" too passes through protobuf on its way into
// storage, which for instance makes an empty list a null. A field has its JSON
// name, its Go type, flags (e omitempty, z omitzero, i inline, - none) and the
// head of its protobuf tag, if it has one. An inline field has its Go name.
//
// A package's file is unpacked when the first of its kinds is asked for, and a
// struct is made from its lines when the first kind that reaches it is.
package wire

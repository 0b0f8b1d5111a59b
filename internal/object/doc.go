// Package object reads and writes API objects in their generic form: the
// map[string]any that JSON decodes to, with int64 and float64 for numbers. Two parts
// stay text: a [RawJSON] and a [FieldsV1].
//
// Functions that read a field return the zero value if the field is absent or of
// another type. They do not validate: decode an object with the schema of its
// type first.
//
// # An object and its owner
//
// The decoded form of a stored object is shared: by the requests that read and change it at the
// same time, by the controllers that watch it, by the next version of the object, and by other
// objects that have equal parts. This is safe, because of three rules:
//
//   - An [Object] never changes. It is read through a [View], which cannot be written to.
//   - Whoever wants another object makes an [Edit] of it, which copies the maps and lists that it
//     writes to, each once, and shares all others with the Object.
//   - What an Edit is given belongs to it: the caller does not write to it any more.
//     [Edit.Object] ends the Edit.
//
// One history shows them. The numbers are maps in memory. A Pod is decoded:
//
//	pod := object.FromMap(decoded)
//
//	pod   #1{metadata: #2{name: a, labels: #3{app: web}}, spec: #4{priority: 0}}
//
// A write to the Edit copies the maps on the path to the field:
//
//	edit := pod.Edit()
//	edit.Set("n1", "spec", "nodeName")
//
//	pod   #1{metadata: #2{name: a, labels: #3{app: web}}, spec: #4{priority: 0}}
//	edit  #5{metadata: #2, spec: #6{priority: 0, nodeName: n1}}
//
// The next one copies only what is not copied yet:
//
//	edit.Set(int64(7), "spec", "priority")
//	edit.Set("eu", "metadata", "labels", "zone")
//
//	pod   #1{metadata: #2{name: a, labels: #3{app: web}}, spec: #4{priority: 0}}
//	edit  #5{metadata: #7{name: a, labels: #8{app: web, zone: eu}}, spec: #6{priority: 7, nodeName: n1}}
//
// The end of the Edit is another Object. A write that leaves the spec alone shares it, so that who
// compares the two, to validate or to encode what has changed, sees at once that it is the same:
//
//	bound := edit.Object()
//	edit = bound.Edit()
//	edit.Delete("metadata", "labels", "zone")
//	moved := edit.Object()
//
//	bound #5{metadata: #7{name: a, labels: #8{app: web, zone: eu}}, spec: #6{priority: 7, nodeName: n1}}
//	moved #9{metadata: #10{name: a, labels: #11{app: web}}, spec: #6}
//
// What is written is a map, from [Edit.Map] or from the body of a request, and shares values with
// Objects: who changes what is within it copies that first. What encodes, merges or compares gets
// the maps of an Object from [View.Shared] and its like, and does not write to them. The compiler
// cannot check these two, so builds with the race detector do: there, a write to a map or a list of
// an Object is a data race, at its line, and a change of it panics when the Object is read next.
package object

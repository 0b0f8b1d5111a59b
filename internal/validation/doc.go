// Package validation is the vocabulary in which the server says what is wrong
// with an object: the path of a field, the kind of mistake, the format a name
// must have, and the checks every object's metadata passes, whatever its type.
//
// Texts, their order and the values they quote are those of kube-apiserver
// v1.36. Clients and their tests compare them, so they are part of the
// interface: changing a comma here is a change of behaviour.
//
// # Errors
//
// A check returns a [List], empty when all is well. One [Error] becomes one
// cause of a Status: Reason, Body and Field are the cause's reason, message and
// field. The Status itself says List.Message, which names every distinct
// mistake once, however often it is in the list.
//
// A format check, such as [DNS1123Label], knows no path. It returns what is
// wrong in words, one string a rule broken, and [Each] turns these into errors.
//
// What makes an error takes the path first, what checks a value takes it last.
//
// # Order of the checks on a write
//
// On create, the checks of the kind come first: ObjectMeta with the kind's own
// name rule, then FinalizerNames for the kinds that it lists, then the
// specification. Only if they all pass does ObjectMeta run once more with
// [PathSegmentName], and it too may fail the request. For a PodDisruptionBudget
// this is the only check of its metadata.
//
// On update, the common checks come first and all errors are reported together:
// ObjectMeta with [PathSegmentName], ObjectMetaUpdate, then the checks of the
// kind, which begin with ObjectMetaUpdate again, followed by FinalizerNames
// where create has it, and which for many kinds go on with all that create
// checks. This is why mistakes in metadata have two causes on update, or four.
//
// # Objects
//
// Objects are maps as encoding/json decodes them, with int64 for whole numbers.
// A field whose value has another type than the API gives it counts as absent:
// decoding has reported it. Nothing here changes or keeps what it is given, and
// every function may be called concurrently.
//
// Maps are checked in the order of their keys, so that the same object always
// gives the same list.
//
// Differs from kube-apiserver: it walks labels and annotations in random order,
// anew for each check.
package validation

// Package validation has the building blocks of validation: field paths, errors
// with reasons, formats of names, and the checks of metadata that apply to
// every type.
//
// Texts, their order and the values they quote are those of kube-apiserver
// v1.36. Clients and their tests compare them, so that they are part of the
// interface: changing a comma is a change of behaviour.
//
// # Errors
//
// A check returns a [List], empty for a valid value. An [Error] becomes one
// cause of a Status: Reason, Body and Field are the cause's reason, message and
// field. The message of the Status is List.Message, which contains every
// distinct text once.
//
// A format check, such as [DNS1123Label], has no path. It returns one message
// for each rule that is broken. [Each] converts the messages to errors.
//
// Functions that create an error take the path first; functions that check a
// value take it last.
//
// # Order of the checks on a write
//
// On create, the checks of the kind come first: ObjectMeta with the kind's own
// name rule, then FinalizerNames for the kinds that it lists, then the
// specification. If they all pass, ObjectMeta runs once more with
// [PathSegmentName], and may fail the request, too. For a PodDisruptionBudget
// this is the only check of its metadata.
//
// On update, the common checks come first and all errors are reported together:
// ObjectMeta with [PathSegmentName], ObjectMetaUpdate, then the checks of the
// kind, which begin with ObjectMetaUpdate again, followed by FinalizerNames as
// on create. For many kinds they continue with all checks of create. Therefore
// an error in metadata has two or four causes on update.
//
// # Objects
//
// Objects are maps as encoding/json decodes them, with int64 for whole numbers.
// A field whose value has another type than in the API counts as absent:
// decoding has reported it. No function changes or keeps its arguments, and all
// are safe for concurrent use.
//
// Maps are checked in the order of their keys, so that the same object always
// returns the same list.
//
// Differs from kube-apiserver: order of metadata errors: kube-apiserver checks
// labels and annotations in random order. Here they are sorted. Request: POST
// of an object with two invalid labels.
package validation

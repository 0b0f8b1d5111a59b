package storage

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

var (
	// ErrUncached is the cause of an error of [Store.SetLag] for a resource without a
	// watch cache.
	ErrUncached = errors.New("kube-apiserver reads it from etcd, not from a watch cache")

	// ErrLagTooLong is the cause of an error of [Store.SetLag] for a lag that is longer
	// than the history is kept.
	ErrLagTooLong = errors.New("the lag is longer than the history is kept")
)

// A TooLargeError reports a read at a version that the store has not reached.
type TooLargeError struct {
	Requested uint64
	Current   mvcc.Revision
	// Waited reports whether the read has waited for the version.
	Waited bool
	// FromEtcd reports whether it is etcd's error for a read of an exact version.
	FromEtcd bool
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Current)
}

// An ExpiredError reports a read at a version that is compacted.
type ExpiredError struct {
	// Continue is a token that continues the list of an expired token at the
	// newest version. It is "" if the read had no continue token.
	Continue string
}

func (e *ExpiredError) Error() string {
	if e.Continue != "" {
		return "The provided continue parameter is too old to display a consistent list result." +
			" You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results." +
			" Continuing with the provided token results in an inconsistent list" +
			" - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	}
	return "The resourceVersion for the provided list is too old."
}

// A ConversionError reports an object that cannot be converted to another version.
type ConversionError struct {
	Err error
	// Stored is the object if it is one that was read from the store, or nil.
	Stored *Object
	// Get is whether the object was read as by a get, although the request is an update.
	Get bool
}

func (e *ConversionError) Error() string { return e.Err.Error() }

func (e *ConversionError) Unwrap() error { return e.Err }

// An UnreadableError reports the stored custom resources of a list that a webhook does not convert, or that
// are in a version that their definition does not have.
//
// Differs from kube-apiserver: lists beside custom resources that cannot be read: while there is one that a
// webhook does not convert, or in a version that the definition does not have, kube-apiserver answers 429 to
// every list and watch of the resource without a limit. Here only those fail that the object belongs to.
// Request: GET of a list in another namespace than that of the object.
type UnreadableError struct {
	Type    *resource.Type
	Objects []Unreadable // the first ones by key; never empty
	// Cached is whether the watch cache serves the list. It does not start with such objects.
	Cached bool
}

// An Unreadable is a stored object that is not converted, and the reason.
type Unreadable struct {
	*Object
	Err error
}

func (e *UnreadableError) Error() string {
	if e.Cached {
		return "storage is (re)initializing: failed to list <unspecified>: " + e.Message()
	}
	return e.Message()
}

func (e *UnreadableError) Unwrap() error { return e.Objects[0].Err }

// Message names the first object.
func (e *UnreadableError) Message() string {
	_, text := e.Cause(0)
	text = fmt.Sprintf("failed to read one or more %s.%s from the storage: %s", e.Type.Name, e.Type.Group, text)
	if more := len(e.Objects) - 1; more > 0 {
		text = fmt.Sprintf("%s (and %d more)", text, more)
	}
	return text
}

// Cause returns the key in etcd of the i-th object, and the error of reading it.
func (e *UnreadableError) Cause(i int) (key, text string) {
	o := e.Objects[i]
	key = e.Type.EtcdKey(o.Namespace, o.Name, false)
	return key, CorruptText(key, o.Object, o.Err)
}

// Truncated reports whether there may be more objects.
func (e *UnreadableError) Truncated() bool { return len(e.Objects) == maxUnreadable }

// CorruptText is the error that kube-apiserver returns for an object that cannot be read. key is the
// object's in etcd.
func CorruptText(key string, o *Object, err error) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, UndecodableText(o, err))
}

// UndecodableText is the part of [CorruptText] that an update returns.
func UndecodableText(o *Object, err error) string {
	return fmt.Sprintf("object not decodable revision=%d: %v", o.Revision, err)
}

// A VersionError reports a resourceVersion that is not a number.
type VersionError struct {
	Value string
	Err   error
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("resourceVersion: Invalid value: %q: %v", e.Value, e.Err)
}

func (e *VersionError) Unwrap() error { return e.Err }

// A ContinueError reports an invalid continue token, or one that is not allowed in the
// request.
type ContinueError struct{ Message string }

func (e *ContinueError) Error() string { return e.Message }

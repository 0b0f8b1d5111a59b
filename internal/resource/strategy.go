package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Strategy defines how the objects of one resource are created, updated and
// deleted. Package kinds has the strategies of built-in resources, package crd
// those of custom resources. A Strategy is immutable; its functions are called
// concurrently for different objects. A nil function does nothing.
//
// The functions cannot write to an old object, but obj may share values with it: who changes what
// is within a member of obj copies it first. old is nothing on a create.
//
// Fields named as in k8s.io/apiserver have the meaning that they have there.
type Strategy struct {
	// Name validates metadata.name.
	Name validation.NameFunc

	// DeclaresName makes the errors of an invalid name those of declarative validation.
	DeclaresName bool

	// AllowCreateOnUpdate lets a PUT create a missing object.
	AllowCreateOnUpdate bool

	// StatusApplyCreates lets an apply to the status create a missing object, as an apply
	// to the object does.
	StatusApplyCreates bool

	// AllowUnconditionalUpdate lets a PUT without a resourceVersion replace the
	// object.
	AllowUnconditionalUpdate bool

	// AllowUnqualifiedFinalizers accepts finalizers that are neither standard nor
	// qualified.
	AllowUnqualifiedFinalizers bool

	// NoWatchCache makes reads go to etcd: they fail below the compacted revision
	// and do not wait for a future one.
	NoWatchCache bool

	// HasTTL deletes objects some time after their last write, as kube-apiserver
	// does with Events (--event-ttl).
	HasTTL bool

	// GenerateUUIDName gives objects without a name a UUID as their name.
	GenerateUUIDName bool

	// ReturnDeletedObject makes DELETE return the deleted object, not a Status.
	ReturnDeletedObject bool

	// ValidatesType says that Validate checks the kind and the apiVersion of an object, which are
	// those of the body. An object of another kind has no defaults.
	ValidatesType bool

	// TypeMetaInItems keeps kind and apiVersion in the items of a list, and an
	// empty continue token in its metadata.
	TypeMetaInItems bool

	// DefinesAPI reports that the objects define resources that the server serves.
	DefinesAPI bool

	// CreateForbidden is why objects cannot be created; "" if they can.
	CreateForbidden string

	// ToInternal, if not nil, fails for a decoded object that kube-apiserver cannot convert to its
	// internal version, with the error of the conversion.
	ToInternal func(obj map[string]any) error

	// RoundTrip is Default for a version whose objects have other fields than those of the storage
	// version. It sets obj to what its conversion to that version and back gives, from which
	// kube-apiserver computes managed fields, and returns it in the storage version, which may have what
	// obj cannot have. A version with a RoundTrip has no Prepare: the storage version prepares the latter,
	// which is stored.
	RoundTrip func(obj map[string]any) (stored map[string]any)

	// ConversionAnnotations are the annotations that carry, in this version, the
	// fields that only another version has. PartialObjectMetadata omits them.
	ConversionAnnotations []string

	// DefaultGarbageCollectionPolicy applies to a DELETE that names no propagation
	// policy.
	DefaultGarbageCollectionPolicy GarbageCollectionPolicy

	// OrphanWarning is the Warning header of a DELETE that names no propagation policy;
	// "" if there is none.
	OrphanWarning string

	// Undeletable returns why a DELETE of the object with a name is forbidden, "" if it is
	// not. A nil Undeletable forbids none. It does not apply to the deletion of a collection.
	Undeletable func(name string) string

	// NoUnsafeDeletion makes a deletion that ignores read errors fail, since kube-apiserver's storage
	// of the type cannot do it.
	NoUnsafeDeletion bool

	// CheckGracefulDelete returns the grace period of a deletion, in seconds, and
	// false if obj is deleted at once. requested is the grace period that the
	// request asks for, or nil. A nil CheckGracefulDelete deletes at once.
	CheckGracefulDelete func(obj map[string]any, requested *int64) (seconds int64, graceful bool)

	// MarkTerminating makes the first DELETE of an object only mark it: it is
	// called after metadata.deletionTimestamp is set. The object is removed when it
	// has no finalizers and ReadyToDelete reports true. Objects of types without it
	// are removed at once if they have no finalizers. The metadata of obj is its own, its other
	// members are shared: the function may replace them, and does not change them.
	MarkTerminating func(obj map[string]any)

	// MarkIgnoresPropagation makes the DELETE that only marks an object ignore the propagation policy:
	// it adds and removes no finalizers for the dependents of the object.
	MarkIgnoresPropagation bool

	// ReadyToDelete reports whether an object that is being deleted and has no
	// metadata.finalizers can be removed. If it is nil, it can.
	ReadyToDelete func(obj map[string]any) bool

	// SetSystemFields sets the fields outside metadata that a creation gives every object,
	// in an object that is stored without a creation and lacks them. It may be nil.
	SetSystemFields func(obj map[string]any)

	// Generation reports whether a change increments metadata.generation. A type
	// with a nil Generation has no generation; the others start at 1.
	Generation func(obj map[string]any, old object.View) bool

	// GenerationBeforePrepare makes writes call Generation before Prepare, not
	// after it.
	GenerationBeforePrepare bool

	// Default sets defaults in an object of this version that was decoded from a
	// request or a file.
	Default func(obj map[string]any)

	// DefaultMetadata is Default for an object that differs only in metadata and status from one
	// that has its defaults. It leaves the status to DefaultStatus, which is nil if that has no
	// defaults. If DefaultMetadata is nil, Default is called.
	DefaultMetadata, DefaultStatus func(obj map[string]any)

	// DefaultTime sets, after Default, the defaults that are the time of the request, in an
	// object that was decoded from a request. now is in RFC 3339.
	DefaultTime func(obj map[string]any, now string)

	// CompleteBookmark sets the fields that the object of a BOOKMARK event has beyond
	// the zero value of this version. In kube-apiserver they come from the conversion
	// of an empty object of the internal version.
	CompleteBookmark func(obj map[string]any)

	// Allocate allocates cluster IPs and node ports. It is called before Prepare.
	// It returns an *Invalid if the object asks for a value that it cannot have.
	Allocate func(obj map[string]any, old object.View, pool Pool) error

	// Prepare resets the fields that the request must not set and sets those that
	// the server owns, before validation: PrepareForCreate and PrepareForUpdate of
	// kube-apiserver.
	Prepare func(obj map[string]any, old object.View)

	// PrepareCompares makes Prepare get old as [Type.Respelled] returns it, because it compares
	// quantities. It must not copy any from old.
	PrepareCompares bool

	// PrepareIgnoresMetadata reports whether Prepare neither reads nor changes the metadata of a new
	// object, so that it does the same to each object with the same other members. If it is nil,
	// Prepare may. A type with a PrepareWithAuthor has none.
	PrepareIgnoresMetadata func(obj map[string]any) bool

	// PrepareWithAuthor sets the fields that depend on the user and the time of the
	// request. It is called after Prepare, or after the Prepare of the status
	// subresource.
	PrepareWithAuthor func(obj map[string]any, old object.View, by Author)

	// Updated counts an update of the object or of a subresource after its commit. It is
	// not called in a dry run.
	Updated func(obj map[string]any, old object.View, counts *metrics.Values)

	// ReadBack makes of a written object what kube-apiserver decodes of it from etcd,
	// and reports whether that changes it: it sets the defaults of fields that the
	// write has reset, for example. A write returns the result but does not store it. It is
	// never without effect, even if it changes nothing else, and the next one stores the
	// result. Values that the object
	// may share with the one it replaces are not changed: copies take their place. It
	// is nil if nothing changes.
	ReadBack func(obj map[string]any) bool

	// ResetFields are the paths of fields that a write to the object cannot change.
	// The field manager of the write does not own them.
	ResetFields []string

	// ResetIn limits the effect of ResetFields on ownership to managers that wrote in some
	// apiVersions. Managers of other versions lose such fields if the body changes them or does
	// not have them. nil is all versions.
	ResetIn []string

	// MetadataValidation is how often an update validates metadata.
	MetadataValidation MetadataValidation

	// UpdatesValidatedAsNew makes an update validate the new object as on a create before it
	// validates the change. The answer has each error of it twice.
	UpdatesValidatedAsNew bool

	// RepeatsErrors reports equal errors as often as they are found in all releases. Types without
	// declarative validation have it.
	RepeatsErrors bool

	// ValidateInNamespace makes the checks that depend on the namespace, the author or the
	// time. It is called before Validate, for the object and its status.
	ValidateInNamespace func(w *Write) validation.List

	// ValidateReferences checks what the author of an object without other errors may read of what it refers
	// to.
	ValidateReferences func(w *Write) validation.List

	// Validate validates the object except its metadata.
	Validate func(obj map[string]any, old object.View) validation.List

	// ValidateContext is Validate for types whose validation can take long. It takes
	// the place of Validate. When ctx ends it returns early, with any result.
	ValidateContext func(ctx context.Context, obj map[string]any, old object.View) validation.List

	// ValidateRules makes the checks that some errors prevent. errs are all errors that were found
	// before, those of the metadata included. It is called after Validate.
	ValidateRules func(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List

	// ValidateMetadata is Validate for an object that Validate has found valid with other metadata
	// and another status, as obj or, if old has the same members, as both. If it is nil, Validate
	// is called.
	ValidateMetadata func(obj map[string]any, old object.View) validation.List

	// BesideTemplate are Default and Validate for an object whose pod template, in spec.template, is
	// in memory that of the object that it replaces, which has its defaults and is valid.
	BesideTemplate BesideTemplate

	// WarningsOnWrite returns the Warning headers of a write of a valid object.
	WarningsOnWrite func(obj map[string]any, old object.View) []string

	// WarningsOnMetadata is WarningsOnWrite for a new object that had no warnings with other
	// metadata. If it is nil, WarningsOnWrite is called.
	WarningsOnMetadata func(obj map[string]any) []string

	// WarningsBeforeCreate returns more Warning headers of a creation, of an object that
	// may be invalid. It is called before Prepare.
	WarningsBeforeCreate func(obj map[string]any) []string

	// SubresourceStrategies are the strategies of the subresources that write
	// fields of the object, by name: "status" and those that only some resources
	// have, such as "resize". Scale is the scale subresource, or nil.
	SubresourceStrategies map[string]SubresourceStrategy
	Scale                 *Scale

	// SelectableFields are the fields of field selectors besides metadata.name and,
	// in a namespaced type, metadata.namespace. No other is in the metadata.
	SelectableFields []Field
	// NoNamespaceField is whether a namespaced type does not have metadata.namespace.
	NoNamespaceField bool

	// FieldLabelError returns the error text for any other field label. Its nil
	// value means the default text.
	FieldLabelError func(label string) string
}

// A SubresourceStrategy is the Strategy of writes to a subresource. Its fields
// are those of Strategy.
type SubresourceStrategy struct {
	// Prepare copies from old what a write to the subresource cannot change. It
	// must not be nil, except in a version with a RoundTrip.
	Prepare func(obj map[string]any, old object.View)

	Validate        func(obj map[string]any, old object.View) validation.List
	ValidateContext func(ctx context.Context, obj map[string]any, old object.View) validation.List
	ValidateRules   func(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List
	WarningsOnWrite func(obj map[string]any, old object.View) []string
	ResetFields     []string
	ResetIn         []string

	// MetadataOnce is set if a write has no other validation of metadata than that of every write.
	MetadataOnce bool
}

// BesideTemplate are functions of a [Strategy] that leave a pod template alone. They are nil if an
// object has none.
type BesideTemplate struct {
	Default  func(obj map[string]any)
	Validate func(obj map[string]any, old object.View) validation.List
}

// SharesTemplate reports whether two objects have the same pod template in memory.
func SharesTemplate(a map[string]any, b object.View) bool {
	return object.ViewOf(a).At("spec", "template").Same(b.At("spec", "template"))
}

// SetDefaults sets the defaults of obj. If old is an object with its defaults, it does so by
// DefaultMetadata and DefaultStatus if only the metadata and the status of obj differ from it, or by
// that of BesideTemplate if obj has its pod template. old may be nothing.
func (s *Strategy) SetDefaults(obj map[string]any, old object.View) {
	now := object.ViewOf(obj)
	switch {
	case s.Default == nil:
	case !old.IsNil() && s.DefaultMetadata != nil && now.SharesMembers(old, "metadata", "status"):
		if object.Checked {
			defer mustHaveDefaults(obj, s.Default)
		}
		s.DefaultMetadata(obj)
		if s.DefaultStatus != nil && !now.At("status").Same(old.At("status")) {
			s.DefaultStatus(obj)
		}
	case !old.IsNil() && s.BesideTemplate.Default != nil && SharesTemplate(obj, old):
		if object.Checked {
			defer mustHaveDefaults(obj, s.Default)
		}
		s.BesideTemplate.Default(obj)
	default:
		s.Default(obj)
	}
}

// mustHaveDefaults panics if setDefaults changes obj, for which it was skipped.
func mustHaveDefaults(obj map[string]any, setDefaults func(obj map[string]any)) {
	copied := object.Copy(obj)
	if setDefaults(copied); !object.Equal(copied, obj) {
		panic(fmt.Sprintf("resource: Default was skipped, which makes %v of %v", copied, obj))
	}
}

// ValidateAll appends to errs, the errors that were found before, those of Validate or
// ValidateContext, whichever the type has, and of ValidateRules.
func (s *Strategy) ValidateAll(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List {
	own := SubresourceStrategy{Validate: s.Validate, ValidateContext: s.ValidateContext, ValidateRules: s.ValidateRules}
	return own.ValidateAll(ctx, obj, old, errs)
}

// ValidateAll is [Strategy.ValidateAll] for a write to the subresource.
func (s SubresourceStrategy) ValidateAll(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List {
	switch {
	case s.ValidateContext != nil:
		errs = append(errs, s.ValidateContext(ctx, obj, old)...)
	case s.Validate != nil:
		errs = append(errs, s.Validate(obj, old)...)
	}
	if s.ValidateRules != nil {
		errs = append(errs, s.ValidateRules(ctx, obj, old, errs)...)
	}
	return errs
}

// A MetadataValidation is how often a type validates metadata on an update, in
// addition to the validation that every write has. kube-apiserver validates
// metadata more than once for some types and reports duplicate causes.
type MetadataValidation int

const (
	// MetadataUpdate validates, on an update, the change of metadata once.
	MetadataUpdate MetadataValidation = iota
	// MetadataUpdateAndCreate validates, on an update, the change and then the new
	// metadata as on a create.
	MetadataUpdateAndCreate
	// MetadataNone validates nothing, neither on an update nor on a create.
	MetadataNone
	// MetadataCreate validates, on an update, only the new metadata as on a create.
	MetadataCreate
	// MetadataCreateTwice validates, on an update, the new metadata twice.
	MetadataCreateTwice
)

// Times returns how often an update validates the change of metadata, and how
// often it validates the new metadata as on a create. object reports whether the
// update writes the object itself, not a subresource.
func (v MetadataValidation) Times(object bool) (update, create int) {
	switch {
	case v == MetadataNone, v == MetadataCreate && !object:
		return 0, 0
	case v == MetadataUpdate, !object:
		return 1, 0
	case v == MetadataCreate:
		return 0, 1
	case v == MetadataCreateTwice:
		return 0, 2
	}
	return 1, 1
}

// A Write describes the write of an object to [Strategy.ValidateInNamespace] and
// [Strategy.ValidateReferences].
type Write struct {
	Object map[string]any
	Old    object.View // nothing on a creation
	Reader

	Verb   string // the verb of the request
	Author Author // the user who makes the request

	// Authorize returns an error if the author may not use the verb on the
	// subresource, which need not be served.
	Authorize func(verb, subresource, namespace, name string) error
	// MayRead reports whether the author may do a verb, get or list, with objects of a kind, and whether the
	// kind is served: otherwise the author needs the permission for all resources of its version. The zero
	// Kind stands for all kinds, and * for all names and namespaces. A member of system:masters may read
	// everything. The error is why the answer is not known.
	MayRead func(verb string, kind Kind, namespace, name string) (allowed, served bool, err error)
	// MaySign reports whether the author may sign certificates as the signer.
	MaySign func(signer string) bool
}

// A Reader reads the state of the server.
type Reader interface {
	// Get returns the stored object, or nothing.
	Get(kind Kind, namespace, name string) object.View
	// List returns the objects of a kind in the namespace, ordered by name. The
	// namespace "" means all namespaces.
	List(kind Kind, namespace string) []object.View
}

// A Pool allocates cluster IPs and node ports for the object of one write.
type Pool interface {
	// Families returns the IP families of the cluster, "IPv4" and "IPv6", the
	// default one first.
	Families() []string
	// IP allocates an address of the family: ip, or any if ip is "".
	IP(family, ip string) (string, error)
	// Port allocates a node port: port, or any if port is 0.
	Port(port int64) (int64, error)
	// Released returns the errors that the release of the server has.
	Released(errs validation.List) validation.List
}

// ErrFull is the error of a Pool that has nothing left to allocate.
var ErrFull = errors.New("range is full")

// An Invalid is the error of an object that fails validation. The server answers
// with 422.
type Invalid struct{ Errors validation.List }

func (e *Invalid) Error() string { return e.Errors.Message() }

// A Failure is an error whose text becomes the message of the Status unchanged.
type Failure string

func (f Failure) Error() string { return string(f) }

// An Author is the user that writes an object, and the time of the write.
type Author struct {
	authn.User
	Now string // RFC 3339
}

// A Field is a selectable field. Value is called when the object is stored; the
// store keeps the result.
type Field struct {
	Label string
	Value func(obj map[string]any) string
}

// Scale describes the scale subresource of a type.
type Scale struct {
	Spec   []string // path of the desired replicas
	Status []string // path of the observed replicas
	// CustomPath is Spec as errors of custom resources print it, "" for built-in
	// types. A custom resource without a value at Spec has no Scale; that of a
	// built-in type has 0 replicas. The Scale of a custom resource is validated only
	// as part of the object, and cannot be applied.
	CustomPath string
	// CheckFields fails for an object that has values of other types where its Scale is read from. It
	// is nil for built-in types.
	CheckFields func(obj object.View) error
	// Selector returns the label selector of the replicas as text.
	Selector func(obj object.View) string
	// Codec decodes and encodes the Scale.
	Codec Codec
	// Layout prints the Scale in Tables.
	Layout *table.Layout
}

// A GarbageCollectionPolicy is what happens to the dependents of a deleted object.
type GarbageCollectionPolicy int

const (
	// DeleteDependents lets the garbage collector delete the dependents.
	DeleteDependents GarbageCollectionPolicy = iota
	// OrphanDependents lets the garbage collector remove their owner references.
	OrphanDependents
	// GarbageCollectionUnsupported marks types that cannot own objects: deletions
	// never add the finalizers of the garbage collector.
	GarbageCollectionUnsupported
)

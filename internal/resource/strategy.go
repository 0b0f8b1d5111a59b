package resource

import (
	"errors"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Strategy is how the objects of one resource are treated: the rules that
// differ from resource to resource, and nothing else. Built-in resources take
// theirs from package kinds, custom ones from their definition. A Strategy is
// immutable.
type Strategy struct {
	// Name checks metadata.name.
	Name validation.NameFunc

	// CreateOnUpdate lets a PUT create a missing object.
	CreateOnUpdate bool

	// UnconditionalUpdate lets a PUT without a resourceVersion overwrite.
	UnconditionalUpdate bool

	// Uncached resources are read from etcd, not from the watch cache: their
	// reads fail below the compacted revision and do not wait for a future one.
	Uncached bool

	// Expires has objects deleted some time after their last write.
	Expires bool

	// Uncreatable, if not "", tells why no object can be created any more.
	Uncreatable string

	// AnswersDeleted makes a DELETE answer the deleted object, not a Status.
	AnswersDeleted bool

	// TypedItems keeps kind and apiVersion in the items of a list, and an
	// empty continue in its metadata.
	TypedItems bool

	// NamedByID gives objects that have no name a random one.
	NamedByID bool

	// Derived are annotations that show what an object has, in versions that have
	// no fields for it. Metadata that is shown alone is without them.
	Derived []string

	// Dependents is what a deletion that names no policy does to them.
	Dependents DependentsPolicy

	// Grace returns the grace period, in seconds, of a deletion that asks for
	// requested (nil: not said), and false if obj is deleted without one. A nil
	// Grace means that no object of the type has any.
	Grace func(obj map[string]any, requested *int64) (seconds int64, graceful bool)

	// Generation reports whether a change raises metadata.generation. A nil
	// Generation means that the type keeps none; one that is set starts at 1.
	Generation func(obj, old map[string]any) bool

	// GenerationFirst has Generation judge obj before it is prepared.
	GenerationFirst bool

	// Defines tells that the objects define what the server serves.
	Defines bool

	// Terminate, if not nil, makes the first DELETE of an object only mark it:
	// it is called once metadata.deletionTimestamp is set. The object goes when
	// it is Deletable.
	Terminate func(obj map[string]any)

	// Default fills in what a decoded object leaves out. It is called on every
	// object that a request or a file brings, whatever it is for.
	Default func(obj map[string]any)

	// Allocate, if not nil, gives obj what no two objects of the server may have
	// at once. It is called before Prepare. On a creation old is nil. It fails
	// with an *Invalid where the object is to blame.
	Allocate func(obj, old map[string]any, pool Pool) error

	// Prepare brings obj into the form that is validated and stored: what the
	// request may not set is reset, what it left out is filled in. On a
	// creation old is nil.
	Prepare func(obj, old map[string]any)

	// Complete, if not nil, fills in of a new object, which is valid, what
	// kube-apiserver fills in only as it reads it back, and reports whether there
	// was anything. It is not stored, so that the first update stores it, even one
	// that changes nothing.
	Complete func(obj map[string]any) bool

	// PrepareStatus does the same as Prepare for a write to the status
	// subresource.
	PrepareStatus func(obj, old map[string]any)

	// Stamp, if not nil, writes into obj what follows from the request alone. It
	// is called after Prepare or PrepareStatus, on an obj that has its name, uid
	// and time of creation. On a creation old is nil.
	Stamp func(obj, old map[string]any, by Author)

	// Reset are the paths that a write to the object leaves as they are, and
	// StatusReset those that a write to its status does: their managers do not
	// come to own them.
	Reset, StatusReset []string

	// Layout is how objects are printed; nil for the layout of the kind that
	// package table has.
	Layout *table.Layout

	// Scale is the scale subresource; nil where there is none.
	Scale *Scale

	// Meta is what the type's own rules check in the metadata of an update.
	Meta MetaChecks

	// ValidateIn, if not nil, checks what an object may have in some namespaces
	// only. It is called before Validate and ValidateStatus.
	ValidateIn func(w *Write) validation.List

	// Validate checks what the type alone knows of; metadata is checked for
	// every type. On a creation old is nil.
	Validate func(obj, old map[string]any) validation.List

	// ValidateStatus does the same for a write to the status subresource.
	ValidateStatus func(obj, old map[string]any) validation.List

	// Parts are the subresources through which some of an object's fields are
	// written, besides status and scale, by name.
	Parts map[string]Part

	// Warn, if not nil, is what a client is to be told of a valid object, in
	// Warning headers. On a creation old is nil.
	Warn func(obj, old map[string]any) []string

	// WarnStatus does the same for a write to the status subresource.
	WarnStatus func(obj, old map[string]any) []string

	// AnyFinalizer takes finalizers that are neither standard nor qualified.
	AnyFinalizer bool

	// Fields are what field selectors may name, beside metadata.name and, in a
	// namespaced type, metadata.namespace.
	Fields []Field

	// UnknownField words the refusal of any other field label.
	UnknownField func(label string) string

	// Deletable, if not nil, decides whether an object whose deletion has begun
	// and whose metadata.finalizers are gone may go.
	Deletable func(obj map[string]any) bool
}

// A Part is how a write to a subresource treats an object.
type Part struct {
	// Prepare keeps of obj what may be written there, and the rest of old.
	Prepare func(obj, old map[string]any)
	// Validate checks what has become of old.
	Validate func(obj, old map[string]any) validation.List
	// Reset are the paths that a write leaves as they are: their managers do not
	// come to own them.
	Reset []string
}

// A MetaChecks is what a type's own rules check in the metadata of an update,
// beside the checks that every update undergoes: a client is told of a mistake
// as often as it is found. The metadata of a new object they check, too, or
// leave to the checks that every new object undergoes which is valid else.
type MetaChecks int

const (
	// MetaAsUpdate checks what may become of the old metadata.
	MetaAsUpdate MetaChecks = iota
	// MetaAsNew checks the new metadata like that of a new object, too.
	MetaAsNew
	// MetaOnce checks nothing, nor does it in a new object.
	MetaOnce
	// MetaOnlyAsNew checks the new metadata like that of a new object, and not
	// what became of the old.
	MetaOnlyAsNew
	// MetaTwiceAsNew does so twice.
	MetaTwiceAsNew
)

// Times are how often the metadata of an update is checked, as an update and as
// new. whole tells that it is one of the object, not of its status or another
// part.
func (c MetaChecks) Times(whole bool) (update, asNew int) {
	switch {
	case c == MetaOnce, c == MetaOnlyAsNew && !whole:
		return 0, 0
	case c == MetaAsUpdate, !whole:
		return 1, 0
	case c == MetaOnlyAsNew:
		return 0, 1
	case c == MetaTwiceAsNew:
		return 0, 2
	}
	return 1, 1
}

// A Write describes the write of an object to [Strategy.ValidateIn].
type Write struct {
	Object map[string]any
	Old    map[string]any // nil on a creation; must not be changed
	Reader

	Verb   string // the verb of the request
	Author Author // the user who makes the request

	// Authorize returns an error if the author may not use the verb on the
	// subresource, which need not be served.
	Authorize func(verb, subresource, namespace, name string) error
}

// A Reader reads the state of the server. The objects that it returns must not
// be changed.
type Reader interface {
	// Get returns the stored object, or nil if there is none.
	Get(kind Kind, namespace, name string) map[string]any
	// List returns the objects of a kind in the namespace, ordered by name. The
	// namespace "" means all namespaces.
	List(kind Kind, namespace string) []map[string]any
}

// A Pool gives out cluster IPs and node ports to the object of one write.
type Pool interface {
	// Families are the IP families that there are addresses of, "IPv4" and
	// "IPv6", the default one first.
	Families() []string
	// IP takes an address of a family: that one, or any if ip is "".
	IP(family, ip string) (string, error)
	// Port takes a node port: that one, or any if it is 0.
	Port(port int64) (int64, error)
}

// ErrFull is what a Pool answers that has nothing left.
var ErrFull = errors.New("range is full")

// An Invalid is the error of an object that is not valid.
type Invalid struct{ Errors validation.List }

func (e *Invalid) Error() string { return e.Errors.Message() }

// A Failure is an error that a client is told in its own words, and no more.
type Failure string

func (f Failure) Error() string { return string(f) }

// An Author is the user that writes an object, and the time of the write.
type Author struct {
	authn.User
	Now string // RFC 3339
}

// A Field is one that field selectors may name. Value is read when the object
// is written and kept beside it.
type Field struct {
	Label string
	Value func(obj map[string]any) string
}

// Scale says where the numbers of a scale subresource stand.
type Scale struct {
	Spec   []string // path of the replicas that are wanted
	Status []string // path of those there are
	// Missing, if not "", is the failure where Spec leads to nothing; else that
	// is as good as none.
	Missing string
	// Checked tells that the number is checked where it comes to stand, as part
	// of the object, and not in the Scale.
	Checked bool
	// Selector is the label selector of the replicas, as text.
	Selector func(obj map[string]any) string
	// Codec reads and writes the Scale.
	Codec Codec
}

// A DependentsPolicy is what becomes of the objects that an object owns.
type DependentsPolicy int

const (
	// DeleteDependents leaves them to the garbage collector.
	DeleteDependents DependentsPolicy = iota
	// OrphanDependents has the garbage collector disown them first.
	OrphanDependents
	// NoDependents marks types that cannot own: they never get the finalizers
	// by which the garbage collector is asked.
	NoDependents
)

package resource

import (
	"sync"

	"github.com/kubefake/kubefake/internal/wire"
)

// A Codec reads and writes the objects of a type as JSON.
type Codec interface {
	// Decode reads a body into its canonical generic form, which is the
	// caller's. Fields that the type does not have are left out; where strict
	// is set they are told, as are duplicate ones.
	Decode(body []byte, strict bool) (obj map[string]any, fieldErrors []error, err error)

	// Normalize gives an object that was put together the form that Decode
	// would give it. It does not change obj; the result is the caller's.
	Normalize(obj map[string]any, strict bool) (normal map[string]any, fieldErrors []error, err error)

	// Wire is the type by which objects are put into protobuf; nil for custom
	// resources, which are not.
	Wire() *wire.Type

	// Append appends the encoded object to dst, kind, apiVersion and metadata
	// first. It does not change the object.
	Append(dst []byte, obj map[string]any) []byte
}

// BuiltinCodec is the codec of a built-in kind. The description of the kind's Go
// type is opened on first use.
func BuiltinCodec(k Kind) Codec {
	return &builtin{sync.OnceValue(func() *wire.Type {
		t, ok := wire.ForKind(k.Group, k.Version, k.Kind)
		if !ok {
			panic("resource: no Go type is known for " + k.GroupVersion.String() + " " + k.Kind) // unreachable: a test opens every kind of every profile
		}
		return t
	})}
}

type builtin struct{ open func() *wire.Type }

func (c *builtin) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	return c.open().Decode(body, wire.DecodeOptions{Strict: strict})
}

func (c *builtin) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.open().Normalize(obj, wire.DecodeOptions{Strict: strict})
}

func (c *builtin) Wire() *wire.Type { return c.open() }

func (c *builtin) Append(dst []byte, obj map[string]any) []byte { return c.open().Append(dst, obj) }

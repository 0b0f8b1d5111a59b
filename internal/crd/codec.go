package crd

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// A codec reads and writes the objects of one version: any JSON whose metadata
// is that of an object, without what the version's schema does not know.
type codec struct {
	props  map[string]any // the schema as the definition has it
	schema *schema.Schema
	keep   bool // unknown members too
}

func (c *codec) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	obj, fieldErrors, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: strict})
	if err != nil {
		return nil, nil, err
	}
	return c.coerce(obj, fieldErrors, strict)
}

func (c *codec) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.coerce(object.Copy(obj), nil, strict)
}

// NormalizeApplied is Normalize for the result of applying, which has the nulls of
// the configuration: those that may not be are for the schema to refuse.
func (c *codec) NormalizeApplied(obj map[string]any) (map[string]any, error) {
	obj = object.Copy(obj)
	_, err := c.schema.Coerce(obj, schema.CoerceOptions{KeepUnknown: c.keep, KeepNulls: true})
	return obj, err
}

func (c *codec) coerce(obj map[string]any, fieldErrors []error, strict bool) (map[string]any, []error, error) {
	unknown, err := c.schema.Coerce(obj, schema.CoerceOptions{KeepUnknown: c.keep, Strict: strict})
	if err != nil {
		return nil, nil, err
	}
	if !strict {
		return obj, nil, nil
	}
	for _, path := range unknown {
		fieldErrors = append(fieldErrors, fmt.Errorf("unknown field %q", path))
	}
	return obj, fieldErrors, nil
}

func (c *codec) Append(dst []byte, obj map[string]any) []byte {
	dst = append(dst, `{"kind":`...)
	dst = wire.AppendAny(dst, obj["kind"])
	dst = append(dst, `,"apiVersion":`...)
	dst = wire.AppendAny(dst, obj["apiVersion"])
	if meta, ok := obj["metadata"].(map[string]any); ok {
		dst = append(dst, `,"metadata":`...)
		dst = metaType().Append(dst, meta)
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if name == "kind" || name == "apiVersion" || name == "metadata" {
			continue
		}
		dst = append(dst, ',')
		dst = wire.AppendAny(dst, name)
		dst = append(dst, ':')
		dst = wire.AppendAny(dst, obj[name])
	}
	return append(dst, '}')
}

var metaType = sync.OnceValue(func() *wire.Type {
	t, ok := wire.ForKind("meta.k8s.io", "v1", "ObjectMeta")
	if !ok {
		panic("crd: ObjectMeta is no type") // unreachable: the table has it
	}
	return t
})

// Wire is nil: custom resources are not put into protobuf.
func (c *codec) Wire() *wire.Type { return nil }

// Schema describes the objects, for those who track their fields.
func (c *codec) Schema() *schema.Schema { return c.schema }

package storage

import (
	"context"
	"fmt"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// An object lies in the store as it was written: in the version that was the
// storage version then, with the fields that version had. A type that has
// versions shows it by the rules of now.

// views are an object as it has been shown in other versions than it is stored
// in, by their names: what many readers want is made once.
type views struct {
	mu   sync.Mutex
	made map[resource.GroupVersion]*Object
}

func (v *views) get(t *resource.Type) *Object {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o := v.made[t.GroupVersion]; o != nil && o.typ.Codec == t.Codec {
		return o
	}
	return nil
}

func (v *views) put(t *resource.Type, o *Object) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.made == nil {
		v.made = map[resource.GroupVersion]*Object{}
	}
	v.made[t.GroupVersion] = o
}

// In returns the object as t shows it: itself, unless it was written in another
// version, or by other rules. It fails with a *ConversionError.
func (o *Object) In(ctx context.Context, t *resource.Type) (*Object, error) {
	all, err := In(ctx, t, []*Object{o})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// In returns objects as t shows them. Those that are in other versions are
// converted together. It fails with a *ConversionError.
func In(ctx context.Context, t *resource.Type, objects []*Object) ([]*Object, error) {
	if t.Versions == nil {
		return objects, nil
	}
	var out []*Object // objects, copied once one of them is another
	var raw []map[string]any
	var at []int // where those of raw are from
	for i, o := range objects {
		if o.typ.Codec == t.Codec {
			continue
		}
		if out == nil {
			out = append(out, objects...)
		}
		if made := o.views.get(t); made != nil {
			out[i] = made
			continue
		}
		obj, err := o.read(t)
		if err != nil {
			return nil, err
		}
		raw, at = append(raw, obj), append(at, i)
	}
	if len(raw) > 0 {
		converted, err := t.Convert(ctx, raw)
		if err != nil {
			return nil, &ConversionError{err}
		}
		for i, obj := range converted {
			from := objects[at[i]]
			version := object.String(obj, "metadata", "resourceVersion")
			made := New(t, obj)
			switch {
			case from.Revision != 0:
				made = made.At(from.Revision)
			case version != "":
				made = made.WithVersionText(version)
			}
			made.views = from.views
			from.views.put(t, made)
			out[at[i]] = made
		}
	}
	if out == nil {
		return objects, nil
	}
	return out, nil
}

// read decodes the object by what t's resource now says of the version that it
// is stored in.
func (o *Object) read(t *resource.Type) (map[string]any, error) {
	apiVersion := o.typ.GroupVersion.String()
	from := t.In(apiVersion)
	if from == nil {
		return nil, &ConversionError{fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion)}
	}
	obj, _, err := from.Codec.Decode(o.JSON(), false)
	if err != nil {
		return nil, err
	}
	if from.Default != nil {
		from.Default(obj)
	}
	return obj, nil
}

// Draft encodes obj, which is in t's version, as New does, in the version that
// it is to be stored in, with the defaults of that. It fails with a
// *ConversionError.
func Draft(ctx context.Context, t *resource.Type, obj map[string]any) (*Object, error) {
	to := t.Storage()
	if to == t {
		return New(t, obj), nil
	}
	converted, err := to.Convert(ctx, []map[string]any{object.Copy(obj)})
	if err != nil {
		return nil, &ConversionError{err}
	}
	if to.Default != nil {
		to.Default(converted[0])
	}
	return New(to, converted[0]), nil
}

package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// An object is stored in the version that was the storage version when it was written,
// with the fields that this version had then. It is converted when it is read as another
// type: in another version, or by the rules of another release.

// conversions caches an object in other versions than the stored one.
type conversions struct {
	from      *Object // the object itself
	mu        sync.Mutex
	byVersion map[resource.GroupVersion]*Object
}

// cachedIn returns the object in t's version if it has been converted before, or nil.
func (o *Object) cachedIn(t *resource.Type) *Object {
	if c, ok := derivedOf(o, anyConversions); ok {
		return c.get(t)
	}
	return nil
}

func anyConversions(*conversions) bool { return true }

// cache keeps the object in t's version. The two share their cache.
func (o *Object) cache(t *resource.Type, converted *Object) {
	c := keepDerived(o, anyConversions, &derived{value: &conversions{from: o}})
	keepDerived(converted, anyConversions, &derived{value: c})
	c.put(t, converted)
}

// Unconverted returns the object that o was converted from, or o itself.
func (o *Object) Unconverted() *Object {
	if c, ok := derivedOf(o, anyConversions); ok {
		return c.from
	}
	return o
}

func (c *conversions) get(t *resource.Type) *Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.byVersion[t.GroupVersion]; o != nil && o.typ.Codec == t.Codec {
		return o
	}
	return nil
}

func (c *conversions) put(t *resource.Type, o *Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byVersion == nil {
		c.byVersion = map[resource.GroupVersion]*Object{}
	}
	c.byVersion[t.GroupVersion] = o
}

// IsOf reports whether the object is encoded as t encodes it.
func (o *Object) IsOf(t *resource.Type) bool { return o.typ == t || o.typ.Codec == t.Codec }

// In returns the object in t's version. It returns the object itself if it is encoded
// in that version and t's type has not changed since. It fails with a
// *ConversionError.
func (o *Object) In(ctx context.Context, t *resource.Type) (*Object, error) {
	if o.IsOf(t) {
		return o, nil
	}
	all, err := In(ctx, t, []*Object{o})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// conversionError returns an error of a conversion. A *ConversionError has o as what is stored, unless
// that is a dry run's.
func (o *Object) conversionError(err error) error {
	var failed *ConversionError
	if errors.As(err, &failed) && o.Revision != 0 {
		return &ConversionError{Err: failed.Err, Stored: o}
	}
	return err
}

// In returns the objects in t's version. It converts all objects of other versions in
// one call. It fails with a *ConversionError.
//
// Differs from kube-apiserver: stored versions that the release does not have: after an
// upgrade or a downgrade kube-apiserver fails to read objects that are stored in a version
// that it does not know, such as v1alpha1 of StorageVersionMigrations in v1.36, or in a newer
// version than the older release has, and it is ready only after it has waited for their watch
// caches. Here they are converted, and the server is ready at once. Request: GET of the object
// after POST upgrade.
func In(ctx context.Context, t *resource.Type, objects []*Object) ([]*Object, error) {
	var out []*Object // a copy of objects, nil while no object has changed
	var raw []map[string]any
	var index []int // the indexes of the objects of raw
	for i, o := range objects {
		if o.IsOf(t) {
			continue
		}
		if out == nil {
			out = append(out, objects...)
		}
		if converted := o.cachedIn(t); converted != nil {
			out[i] = converted
			continue
		}
		obj, err := o.read(t)
		if err != nil {
			return nil, o.conversionError(err)
		}
		raw, index = append(raw, obj), append(index, i)
	}
	if len(raw) > 0 {
		converted, err := convert(ctx, t, raw)
		switch {
		case err != nil && len(raw) == 1:
			return nil, objects[index[0]].conversionError(err)
		case err != nil:
			return nil, err
		}
		for i, obj := range converted {
			from := objects[index[i]]
			made := from.as(t, obj)
			from.cache(t, made)
			out[index[i]] = made
		}
	}
	if out == nil {
		return objects, nil
	}
	return out, nil
}

// ConvertAnew returns the object in t's version, as a read of etcd does: a webhook converts it
// again if one has converted it before. It fails with a *ConversionError.
func (o *Object) ConvertAnew(ctx context.Context, t *resource.Type) (*Object, error) {
	if !t.HasConversionWebhook || o.IsOf(t) {
		return o.In(ctx, t)
	}
	obj, err := o.read(t)
	if err != nil {
		return nil, o.conversionError(err)
	}
	converted, err := convert(ctx, t, []map[string]any{obj})
	if err != nil {
		return nil, o.conversionError(err)
	}
	made := o.as(t, converted[0])
	keepDerived(made, anyConversions, &derived{value: &conversions{from: o.Unconverted()}})
	return made, nil
}

// CheckEncodes fails if a conversion webhook does not convert the object, which is in t's version, to the
// storage version. It fails with a *ConversionError.
func (o *Object) CheckEncodes(ctx context.Context, t *resource.Type) error {
	to := t.Storage()
	if !to.HasConversionWebhook || o.IsOf(to) {
		return nil
	}
	_, err := convert(ctx, to, []map[string]any{o.Decode(t)})
	return err
}

// as returns obj, which is o converted to t's version.
func (o *Object) as(t *resource.Type, obj map[string]any) *Object {
	version := object.String(obj, "metadata", "resourceVersion")
	out := New(t, obj, nil)
	switch {
	case o.Revision != 0:
		return out.At(o.Revision)
	case version != "":
		return out.WithVersionText(version)
	}
	return out
}

// convert returns objects in t's version, without the fields that it does not have. It
// takes ownership of objs and fails with a *ConversionError.
func convert(ctx context.Context, t *resource.Type, objs []map[string]any) ([]map[string]any, error) {
	if t.Convert == nil {
		return objs, nil
	}
	converted, err := t.Convert(ctx, objs)
	if err != nil {
		return nil, &ConversionError{Err: err}
	}
	for _, obj := range converted {
		if t.Prune == nil {
			break
		}
		if err := t.Prune(obj); err != nil {
			return nil, &ConversionError{Err: err}
		}
	}
	return converted, nil
}

// unknownVersion returns an error if the object is a custom resource that is stored in a version that
// t's definition does not have.
func (o *Object) unknownVersion(t *resource.Type) error {
	apiVersion := o.typ.GroupVersion.String()
	if t.UnknownVersion == nil || t.In(apiVersion) != nil {
		return nil
	}
	return fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion)
}

// maxUnreadable is the number of objects in an [UnreadableError], as in kube-apiserver.
const maxUnreadable = 100

// FindUnreadable returns an error for the objects between two keys of a view that are not converted to t's
// version, nil if there are none or ctx ends. known is an error of their conversion: the object that it
// names, if any, is not converted again.
func FindUnreadable(ctx context.Context, t *resource.Type, view View, from, to string, known *ConversionError) *UnreadableError {
	out := &UnreadableError{Type: t}
	for item := range view.Range(from, to) {
		if len(out.Objects) == maxUnreadable {
			break
		}
		failed := known
		if item.Value != known.Stored {
			_, err := item.Value.In(ctx, t)
			if !errors.As(err, &failed) {
				continue
			}
		}
		out.Objects = append(out.Objects, Unreadable{item.Value, failed.Err})
	}
	if len(out.Objects) == 0 || ctx.Err() != nil {
		return nil
	}
	return out
}

// read decodes the object with t's current definition of the version in which it is
// stored, without its resourceVersion, which conversion webhooks do not see. That of a built-in version that t's release does not serve is the release's that
// stored it.
func (o *Object) read(t *resource.Type) (map[string]any, error) {
	if err := o.unknownVersion(t); err != nil {
		return nil, &ConversionError{Err: err}
	}
	from := t.In(o.typ.GroupVersion.String())
	if from == nil {
		from = o.typ
	}
	obj, err := from.Codec.DecodeStored(o.storedForm(), 0, nil, nil)
	if err != nil {
		return nil, err
	}
	if from.Default != nil {
		from.Default(obj)
	}
	return obj, nil
}

// Draft encodes obj, which is in t's version, in the storage version, as it is read back. It
// changes obj, too, if that is the storage version. old is the version that it replaces or another
// object with which it may share texts, or nil, and live is old decoded as t, or nil: obj may share
// values with it. It fails with a *ConversionError.
func Draft(ctx context.Context, t *resource.Type, obj map[string]any, live object.View, old *Object) (*Object, error) {
	to := t.Storage()
	if to == t {
		if old == nil || !old.IsOf(t) {
			live = object.View{}
		}
		if t.ReadBack == nil {
			return encode(t, obj, live.SharedMembers(), old), nil
		}
		var bare map[string]any // obj as kube-apiserver stores it, unless no definition changes what is read of that
		if t.Codec.Wire() == nil {
			bare = maps.Clone(obj)
		}
		completed := t.ReadBack(obj)
		out := encode(t, obj, live.SharedMembers(), old)
		if out.Completed = completed; completed && bare != nil {
			out.asStored = &New(t, bare, nil).encoded
		}
		return out, nil
	}
	converted, err := convert(ctx, to, []map[string]any{object.Copy(obj)})
	if err != nil {
		return nil, err
	}
	return DraftConverted(to, converted[0], old), nil
}

// DraftConverted is Draft for an object that was converted to the storage version, that of to. It
// changes obj.
func DraftConverted(to *resource.Type, obj map[string]any, old *Object) *Object {
	if to.Default == nil {
		return New(to, obj, old)
	}
	// kube-apiserver stores the converted object as it is, and adds the defaults of the
	// storage version when it reads it.
	bare := New(to, obj, nil)
	to.Default(obj)
	out := New(to, obj, old)
	if out.Completed = !out.Same(bare); out.Completed && to.Codec.Wire() == nil {
		out.asStored = &bare.encoded
	}
	return out
}

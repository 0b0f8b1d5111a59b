package apiserver

import (
	"github.com/kubefake/kubefake/internal/object"
)

// update replaces an object, or a part of it that has a subresource, by the
// body.
func (r *request) update(mode writeMode) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	o, err := r.writeOptions("UpdateOptions")
	if err != nil {
		return err
	}
	format, err := r.bodyFormat()
	if err != nil {
		return err
	}
	obj, err := r.decode(format, body, o)
	if err != nil {
		return err
	}
	meta := object.Meta(obj)
	if err := r.checkPlace(meta); err != nil {
		return err
	}
	return r.change(mode, o, object.String(meta, "uid"), func(old *version) (map[string]any, error) {
		return r.owned(object.Copy(obj), old, o), nil
	})
}

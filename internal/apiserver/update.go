package apiserver

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
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
	if err := r.checkContentType(); err != nil {
		return err
	}
	obj, err := r.decode(body, resource.Kind{GroupVersion: r.typ.GroupVersion, Kind: r.typ.Kind}, r.typ.Codec, o)
	if err != nil {
		return err
	}
	meta := object.Meta(obj)
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return err
	}
	if err := checkName(meta, r.name); err != nil {
		return err
	}
	delete(meta, "managedFields")
	delete(meta, "selfLink")
	r.dedupOwners(meta)
	return r.change(mode, o, object.String(meta, "uid"), func(map[string]any) (map[string]any, error) {
		return object.Copy(obj), nil
	})
}

// patch answers that patches are not there yet.
//
// Differs from kube-apiserver: no patch is implemented.
func (r *request) patch(writeMode) error {
	return status.NotImplemented("patches in " + r.http.Header.Get("Content-Type"))
}

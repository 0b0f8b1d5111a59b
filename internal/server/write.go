package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// create serves POST. The order of the checks is kube-apiserver's, here and in
// the handlers below.
func (r *request) create() error {
	format, err := r.bodyFormat()
	if err != nil {
		return err
	}
	data, err := r.readBody()
	if err != nil {
		return err
	}
	o, err := r.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	result, err := r.server.cluster.Create(r.ctx(), r.target(), registry.Body{Format: format, Data: data}, o)
	r.revision = result.Revision
	if err != nil {
		return err
	}
	return r.answerResult(http.StatusCreated, result)
}

// update serves PUT.
func (r *request) update() error {
	data, err := r.readBody()
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
	result, err := r.server.cluster.Update(r.ctx(), r.target(), registry.Body{Format: format, Data: data}, o)
	return r.answerChange(result, err)
}

// answerChange writes the result of a PUT or a PATCH, which may have created the
// object.
func (r *request) answerChange(result registry.Result, err error) error {
	r.revision, r.statusIgnored = result.Revision, result.StatusIgnored
	switch {
	case err != nil:
		return err
	case result.Created:
		return r.answerResult(http.StatusCreated, result)
	}
	return r.answerResult(http.StatusOK, result)
}

// answer writes a stored object in the representation and the media type that the
// client asks for, or its Scale.
func (r *request) answer(code int, o *storage.Object) error {
	o, err := o.In(r.ctx(), r.typ)
	if err != nil {
		return err
	}
	if r.sub != nil && r.Subresource == "scale" && r.typ.Scale != nil {
		return r.answerScale(code, o)
	}
	return r.answerObject(code, r.typ, o)
}

// answerScale writes the Scale of a stored object.
func (r *request) answerScale(code int, o *storage.Object) error {
	scaleOf := registry.WrittenScale
	if r.Verb == "get" {
		scaleOf = registry.Scale
	}
	scale, err := scaleOf(r.typ, object.ViewOf(o.Decode(r.typ)))
	if err != nil {
		return err
	}
	c := r.typ.Scale.Codec
	if r.out.View == codec.Whole {
		return r.answerJSON(code, append(c.Append(nil, scale), '\n'), c.Wire())
	}
	t := &resource.Type{
		GroupVersion: r.sub.Kind.GroupVersion,
		Kind:         r.sub.Kind.Kind,
		Codec:        c,
		Layout:       r.typ.Scale.Layout,
		Strategy:     &resource.Strategy{},
	}
	return r.answerObject(code, t, storage.New(t, scale, nil).At(o.Revision))
}

// answerObject writes an object of type t in the representation and the media type
// that the client asks for.
func (r *request) answerObject(code int, t *resource.Type, o *storage.Object) error {
	shape, err := r.representation(t, false)
	if err != nil {
		return err
	}
	_, whole := shape.(whole)
	if whole && r.out.Format == codec.Protobuf {
		r.write(code, r.out.ContentType(), message(t, o))
		return nil
	}
	if r.out.Format != codec.JSON {
		o = o.Verbatim()
	}
	if whole {
		return o.ReadJSON(func(json []byte) error { return r.answerJSON(code, json, t.Codec.Wire()) })
	}
	return r.answerJSON(code, document(func(w *bufio.Writer) error { return shape.object(w, o) }), shape.wire())
}

// message returns an object of a type in protobuf.
func message(t *resource.Type, o *storage.Object) []byte {
	return wire.Envelope{APIVersion: t.GroupVersion.String(), Kind: t.Kind, Raw: o.Message(t.Codec.Wire())}.Append(nil)
}

// answerResult writes the result of a write.
func (r *request) answerResult(code int, result registry.Result) error {
	switch {
	case result.Object != nil:
		return r.answer(code, result.Object)
	case result.Answer != nil:
		c := result.Answer.Codec
		normal, _, err := c.Normalize(result.Answer.Object, false)
		if err != nil {
			return status.Internal(err.Error())
		}
		switch r.out.View {
		case codec.PartialMetadataList:
			return r.viewRefused("not a list (*" + result.Answer.Type + ")")
		case codec.PartialMetadata:
			meta := metaType("ObjectMeta").Append(nil, object.Meta(normal))
			return r.answerJSON(code, append(partialMetadata("meta.k8s.io/"+r.out.Version, meta), '\n'), metaType("PartialObjectMetadata"))
		}
		return r.answerJSON(code, append(c.Append(nil, normal), '\n'), c.Wire())
	}
	st := status.Success(nil)
	st.Code = int32(code)
	return r.answerStatus(code, st)
}

// patchTypes are the media types of patches.
var patchTypes = []string{patch.JSONType, patch.MergeType, patch.StrategicType, patch.ApplyType}

// patchType returns the media type of a patch.
func (r *request) patchType() string {
	mediaType, _, _ := strings.Cut(header.Get(r.http.Header, "Content-Type"), ";")
	return mediaType
}

// checkPatchType fails for a media type that is no patch of the resource.
func (r *request) checkPatchType() error {
	switch mediaType := r.patchType(); {
	case mediaType == patch.StrategicType:
		if _, ok := r.typ.Codec.MergeSchema(r.surface.Release()); ok {
			return nil
		}
	case slices.Contains(patchTypes, mediaType), mediaType == patch.ApplyCBORType && r.offer().CBOR:
		return nil
	}
	return r.unroutedPatch()
}

// patch serves PATCH.
func (r *request) patch() error {
	data, err := r.readBody()
	if err != nil {
		return err
	}
	p := registry.Patch{Type: r.patchType(), Data: data}
	r.auditPatch(p)
	o, err := r.patchOptions(p)
	if err != nil {
		return err
	}
	if !p.Applies() && r.surface.Release().Has(behavior.ChecksPatchesFirst) && !json.Valid(data) {
		return status.BadRequest("invalid JSON patch")
	}
	result, err := r.server.cluster.Patch(r.ctx(), r.target(), p, o)
	return r.answerChange(result, err)
}

// unroutedPatch is the error for a media type that is no patch of the resource.
func (r *request) unroutedPatch() error {
	switch {
	case !r.byDefinition && !r.surface.Release().Has(behavior.StrictRoutes) && r.http.ContentLength <= 0:
		return r.unrouted(&codec.NotAcceptableError{Route: true})
	case !r.byDefinition:
		return status.UnroutedMediaType()
	}
	types := []string{patch.JSONType, patch.MergeType, patch.ApplyType}
	if r.offer().CBOR {
		types = append(types, patch.ApplyCBORType)
	}
	return status.UnsupportedMediaType(types)
}

// delete serves DELETE of one object.
func (r *request) delete() error {
	o, err := r.deleteOptions()
	if err != nil {
		return err
	}
	result, err := r.server.cluster.Delete(r.ctx(), r.target(), o)
	r.revision = result.Revision
	if err != nil {
		return err
	}
	code := http.StatusOK
	if !result.Deleted && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	if result.Object == nil { // it was not read
		st := status.Success(&status.Details{Name: r.Name, Kind: r.typ.Kind})
		st.Code = int32(code)
		return r.answerStatus(code, st)
	}
	if out := result.Object; result.Deleted && !r.typ.ReturnDeletedObject {
		if r.out.View == codec.Table {
			if _, err := r.includeObject(); err != nil {
				return err
			}
		}
		return r.answerStatus(code, status.Success(&status.Details{Name: out.Name, Group: r.Group, Kind: r.Resource, UID: out.UID}))
	}
	return r.answer(code, result.Object)
}

// deleteCollection serves DELETE of a collection.
func (r *request) deleteCollection() error {
	list, err := r.listOptions()
	if err != nil {
		return err
	}
	o, err := r.deleteOptions()
	if err != nil {
		return err
	}
	if errs := r.released(o.ValidateForCollection()); len(errs) > 0 {
		return status.InvalidOptions("DeleteOptions", errs)
	}
	page, rev, err := r.server.cluster.DeleteCollection(r.ctx(), r.target(), list.Query, o)
	r.revision = rev
	if err != nil {
		return err
	}
	shape, err := r.representation(r.typ, true)
	if err != nil {
		return err
	}
	return r.answerList(shape, page)
}

// deleteOptions reads and validates the DeleteOptions: those of the body if there
// is one, else those of the query.
func (r *request) deleteOptions() (*registry.DeleteOptions, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	var o *registry.DeleteOptions
	if len(body) > 0 {
		o, err = r.decodeDeleteOptions(body)
	} else {
		o, err = parseDeleteQuery(r.query())
	}
	if err != nil {
		return nil, err
	}
	if errs := r.released(o.Validate()); len(errs) > 0 {
		return nil, status.InvalidOptions("DeleteOptions", errs)
	}
	return o, nil
}

// parseDeleteQuery reads DeleteOptions from the query. The preconditions are
// parameters of their own there.
func parseDeleteQuery(q url.Values) (*registry.DeleteOptions, error) {
	seconds, err := intOf(q, "gracePeriodSeconds")
	if err != nil {
		return nil, err
	}
	first := func(name string) *string {
		if values := q[name]; len(values) > 0 {
			return &values[0]
		}
		return nil
	}
	o := &registry.DeleteOptions{GracePeriodSeconds: seconds, UID: first("uid"), Version: first("resourceVersion")}
	o.OrphanDependents = boolOf(q, "orphanDependents")
	o.PropagationPolicy = first("propagationPolicy")
	o.DryRun = q["dryRun"]
	o.IgnoreStoreReadError = valueOf(boolOf(q, "ignoreStoreReadErrorWithClusterBreakingPotential"))
	return o, nil
}

var deleteOptionsCodec = resource.BuiltinCodec(deleteOptionsKind)

var deleteOptionsKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "meta.k8s.io", Version: "v1"}, Kind: "DeleteOptions"}

// decodeDeleteOptions decodes DeleteOptions, a kind of every group and version.
func (r *request) decodeDeleteOptions(body []byte) (*registry.DeleteOptions, error) {
	format, err := codec.Offer{CBOR: r.offer().CBOR}.Body(header.Get(r.http.Header, "Content-Type"))
	if err != nil {
		return nil, err
	}
	malformed := status.BadRequest
	if !r.surface.Release().Has(behavior.DeleteOptionsBadRequests) {
		malformed = status.Unclassified
	}
	doc, err := format.Parse(body)
	if err != nil {
		return nil, malformed(err.Error())
	}
	got, err := resource.BodyKind(doc)
	if err != nil {
		return nil, malformed(err.Error())
	}
	if err := resource.CheckDeleteOptions(r.surface.Release().Minor(), got.Or(deleteOptionsKind)); err != nil {
		return nil, malformed(err.Error())
	}
	obj, _, err := doc.Decode(deleteOptionsCodec, false)
	if err != nil {
		return nil, malformed(err.Error())
	}
	r.auditDeleteOptions(obj)
	return registry.ParseDeleteOptions(obj), nil
}

// writeOptions reads and validates the query of a create or update. kind names
// the options in errors.
func (r *request) writeOptions(kind string) (*registry.WriteOptions, error) {
	o := r.readWriteOptions()
	if errs := r.released(o.Validate()); len(errs) > 0 {
		return nil, status.InvalidOptions(kind, errs)
	}
	return o, nil
}

// released returns the errors of options in the words of the server's release.
func (r *request) released(errs validation.List) validation.List {
	return errs.In(r.surface.Release(), "", "")
}

// patchOptions reads and validates the query of a patch.
func (r *request) patchOptions(p registry.Patch) (*registry.WriteOptions, error) {
	o := r.readWriteOptions()
	force := boolOf(r.query(), "force")
	o.Force = valueOf(force)
	errs := r.released(validation.PatchOptions{WriteOptions: o.WriteOptions, Force: force, Apply: p.Applies()}.Validate())
	if len(errs) > 0 {
		return nil, status.InvalidOptions("PatchOptions", errs)
	}
	return o, nil
}

func (r *request) readWriteOptions() *registry.WriteOptions {
	q := r.query()
	return &registry.WriteOptions{WriteOptions: validation.WriteOptions{
		FieldManager:    q.Get("fieldManager"),
		DryRun:          q["dryRun"],
		FieldValidation: q.Get("fieldValidation"),
	}}
}

// boolOf returns a boolean parameter, nil if it is not given.
func boolOf(q url.Values, name string) *bool {
	values, ok := q[name]
	if !ok || len(values) == 0 {
		return nil
	}
	b := route.ParseBool(values[0])
	return &b
}

// intOf returns an integer parameter, nil if it is not given.
func intOf(q url.Values, name string) (*int64, error) {
	values, ok := q[name]
	if !ok || len(values) == 0 {
		return nil, nil
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return &n, nil
}

// valueOf returns what p points to, or the zero value.
func valueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// maxBody is the longest body that is accepted: 3 MiB.
const maxBody = 3 << 20

// bodyTooLarge returns the error for a longer body.
func bodyTooLarge() error { return status.TooLarge(fmt.Sprintf("limit is %d", maxBody)) }

// readBody reads the whole body.
func (r *request) readBody() ([]byte, error) {
	defer r.bodyRead()
	if r.http.Body == nil || r.http.Body == http.NoBody {
		return nil, nil
	}
	timer := r.limitRead()
	body, err := readAll(r.http.Body, r.http.ContentLength)
	timer.Stop()
	switch {
	case len(body) > maxBody:
		return nil, bodyTooLarge()
	case err != nil:
		return nil, r.bodyError(err)
	}
	return body, nil
}

// bodyError returns the error for a body that was not read to its end.
func (r *request) bodyError(err error) error {
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return bodyTooLarge()
	case r.timedOut():
		return r.deadline.Err()
	}
	return status.Unclassified(err.Error())
}

// readAll reads to the end, or until it has more than maxBody bytes. size is the expected
// number of bytes, 0 or less if it is not known.
func readAll(src io.Reader, size int64) ([]byte, error) {
	b := make([]byte, 0, max(min(size, maxBody)+1, 512))
	for len(b) <= maxBody {
		n, err := src.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
	return b, nil
}

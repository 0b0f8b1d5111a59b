package registry

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/internal/word"
)

// decode reads the body as an object of the kind that the request takes, and
// sets its kind and its defaults. The options say whether unknown and duplicate
// fields fail, warn or are dropped; they warn by default. current is what the object is likely to
// replace, nil if that is not known.
func (op *operation) decode(body Body, o *WriteOptions, current *storage.Decoded) (map[string]any, error) {
	c := op.bodyCodec()
	if body.Object != nil {
		if !c.Kind().Fits(body.Object) {
			return nil, status.BadRequest(fmt.Sprintf("%s of %s cannot be handled as a %s", object.String(body.Object, "kind"), object.String(body.Object, "apiVersion"), c.Kind().Kind))
		}
		obj, fieldErrors, err := c.Normalize(body.Object, o.strict())
		return op.checkFields(obj, fieldErrors, err, c.Kind(), o, current)
	}
	options := wire.DecodeOptions{Strict: o.strict(), Prototypes: op.bodies(body)}
	if current != nil {
		options.Live = current.Live()
	}
	doc, err := body.Format.ParseFor(c, body.Data, options)
	if err != nil {
		return nil, op.decodeError(resource.UnrecognizedBody(c.Kind(), body.Data, err))
	}
	op.sent = sentBody{data: body.Data, format: body.Format, length: len(body.Data)}
	got, err := c.CheckBody(doc)
	if err != nil {
		return nil, op.decodeError(err)
	}
	obj, fieldErrors, err := doc.Decode(c, o.strict())
	return op.checkFields(obj, fieldErrors, err, got, o, current)
}

// decodeError returns the error of a body that does not decode. kube-apiserver looks up what
// the request takes for its text, and does not find the Scales of custom resources.
func (op *operation) decodeError(err error) error {
	if op.isScale() && op.Type.Scale.CustomPath != "" {
		return status.BadRequest(resource.NoTypeRegistered(op.api().Release.Minor(), op.bodyCodec().Kind()).Error())
	}
	return err
}

// checkFields returns a decoded object with its kind and its defaults. It fails
// for one that did not decode, or whose field errors the options do not allow.
func (op *operation) checkFields(obj map[string]any, fieldErrors []error, err error, got resource.Kind, o *WriteOptions, current *storage.Decoded) (map[string]any, error) {
	if err == nil {
		err = op.toInternal(obj)
	}
	if err == nil && len(fieldErrors) > 0 && o.FieldValidation == "Strict" {
		err = resource.StrictError(fieldErrors)
	}
	if err != nil {
		return nil, op.decodeError(resource.UndecodableBody(got, op.bodyCodec().Kind(), err))
	}
	op.warn(codec.Warnings(fieldErrors)...)
	if current != nil {
		obj = op.defaulted(obj, current.Map())
	} else {
		obj = op.defaultedNew(obj)
	}
	if op.Decoded != nil {
		op.Decoded(obj, op.bodyCodec())
	}
	return obj, nil
}

// toInternal fails for a decoded object that kube-apiserver cannot convert to its internal version.
func (op *operation) toInternal(obj map[string]any) error {
	if op.isScale() || op.isAction() || op.Type.Virtual() || op.Type.ToInternal == nil {
		return nil
	}
	return op.Type.ToInternal(obj)
}

// defaulted sets the kind and the defaults of the object of a body, or of a patched one. old is
// the stored object, in the version of the request, that was patched, or nil.
func (op *operation) defaulted(obj, old map[string]any) map[string]any {
	if op.isScale() || op.isAction() {
		op.setKind(obj)
		if op.groupResource() == (status.GroupResource{Resource: "serviceaccounts"}) && op.Subresource == "token" {
			serviceaccount.SetDefaults(obj)
		}
		return obj
	}
	if op.roundTrips() {
		op.setKind(obj)
		op.roundTrip(obj)
		return obj
	}
	obj = defaulted(op.Type, obj, old)
	if !op.Type.Virtual() && op.Type.DefaultTime != nil {
		op.Type.DefaultTime(obj, op.now())
	}
	return obj
}

// setKind sets the kind of the object of a body.
func (op *operation) setKind(obj map[string]any) {
	kind := resource.Kind{GroupVersion: op.Type.GroupVersion, Kind: op.Type.Kind}
	if op.isScale() || op.isAction() {
		kind = op.sub.Kind
	}
	setKind(obj, kind.GroupVersion, kind.Kind)
}

func setKind(obj map[string]any, gv resource.GroupVersion, kind string) {
	if object.String(obj, "kind") != kind {
		obj["kind"] = kind
	}
	if apiVersion := gv.String(); object.String(obj, "apiVersion") != apiVersion {
		obj["apiVersion"] = apiVersion
	}
}

// defaulted sets the kind and the defaults of a decoded object of type t, which takes the place
// of old, or of none if that is nil.
func defaulted(t *resource.Type, obj, old map[string]any) map[string]any {
	setKind(obj, t.GroupVersion, t.Kind)
	if !t.Virtual() {
		if t.Versions != nil {
			old = nil // has the defaults of another version, see storage.Object.Decode
		}
		t.SetDefaults(obj, old)
	}
	return obj
}

// setNamespace sets the namespace of an object to the request's. It fails for an
// object that names another one, and clears it at cluster scope.
func setNamespace(meta map[string]any, namespace string) error {
	switch own := object.String(meta, "namespace"); {
	case own == namespace:
	case own == "":
		meta["namespace"] = namespace
	case namespace == "":
		delete(meta, "namespace")
	default:
		return status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// checkNameAndNamespace refuses an object of another name or namespace than the request's,
// and tidies the metadata of others.
func (op *operation) checkNameAndNamespace(meta map[string]any) error {
	if err := setNamespace(meta, op.objectNamespace()); err != nil {
		return err
	}
	if err := checkName(meta, op.Name); err != nil {
		return err
	}
	object.Remove(meta, "selfLink")
	return nil
}

// checkName fails for an object whose name is not the request's.
func checkName(meta map[string]any, name string) error {
	switch own := object.String(meta, "name"); own {
	case name:
		return nil
	case "":
		return status.BadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	default:
		return status.BadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", own, name))
	}
}

// dedupOwnerReferences drops owner references that came before, and warns of them: when
// says since when there are such, if that is not from the start.
func (op *operation) dedupOwnerReferences(meta map[string]any, when string) {
	owners := object.List(meta, "ownerReferences")
	if len(owners) < 2 {
		return
	}
	seen := make(map[string]bool, len(owners))
	var kept []any
	var twice []string
	for _, o := range owners {
		ref, _ := o.(map[string]any)
		uid := object.String(ref, "uid")
		if seen[uid] && slices.ContainsFunc(kept, func(k any) bool { return object.Equal(k, o) }) {
			twice = append(twice, uid)
			continue
		}
		seen[uid] = true
		kept = append(kept, o)
	}
	if len(twice) > 0 {
		meta["ownerReferences"] = kept
		op.warn(".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(twice, ", "))
	}
}

// managersOfType returns the field managers of the request's type.
func (op *operation) managersOfType() *serving.Managers {
	if op.managers == nil {
		op.managers = op.Surface.ManagersOf(op.Type)
	}
	return op.managers
}

// fieldManagers returns the field managers of the request's bodies: of objects or
// of Scales.
func (op *operation) fieldManagers() *fieldmanager.Type {
	m := op.managersOfType()
	switch {
	case op.isScale():
		return m.Scales
	case op.isAction():
		return m.Action(op.Subresource, op.bodyCodec(), op.api().Release)
	}
	return m.Objects
}

// fieldOptions returns the manager of a write and the fields that it can change.
func (op *operation) fieldOptions(o *WriteOptions) fieldmanager.Options {
	out := fieldmanager.Options{Manager: o.FieldManager, Subresource: op.Subresource, Now: op.clock.Now(), Force: o.Force, Sent: op.sent.values,
		KeepOnError: op.api().Release.Has(behavior.KeepsFieldsOnErrors)}
	if op.ctx != op.lifetime { // see ended
		out.Context = op.ctx
	}
	if out.Manager == "" {
		out.Manager = managerOf(op.UserAgent)
	}
	op.fieldManager = out.Manager
	m := op.managersOfType()
	switch op.Subresource {
	case "", "finalize":
		out.Fields = m.Fields
	default:
		out.Fields = m.Subresources[op.Subresource]
	}
	return out
}

// withManagedFields returns obj, which replaces old, with the fields that the
// write changed owned by its manager. It is not for applies.
func (op *operation) withManagedFields(obj map[string]any, old *storage.Decoded, o *WriteOptions) map[string]any {
	var live map[string]any
	if old != nil {
		live = op.view(old)
	}
	return op.fieldManagers().Update(live, obj, op.fieldOptions(o))
}

// maxManager is the longest name of a field manager, in bytes.
const maxManager = 128

// managerOf returns the field manager of a client that names none: its user agent
// up to the first slash, without unprintable characters.
func managerOf(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	if len(name) <= maxManager && word.IsPrintableASCII(name) {
		return name
	}
	var b strings.Builder
	for _, c := range name {
		if !unicode.IsPrint(c) {
			continue
		}
		if b.Len()+utf8.RuneLen(c) > maxManager {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

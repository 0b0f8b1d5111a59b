package registry

import (
	"cmp"
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
)

// decode reads the body as an object of the kind that the request takes, and
// sets its kind and its defaults. The options say whether unknown and duplicate
// fields fail, warn or are dropped; they warn by default. current is what the object is likely to
// replace, nil if that is not known.
func (op *operation) decode(current *storage.Decoded) (*candidate, error) {
	c, body, bodyCodec, strict := new(candidate), &op.body, op.bodyCodec(), op.options.strict()
	if body.Object != nil {
		if !bodyCodec.Kind().Fits(body.Object) {
			return nil, status.BadRequest(fmt.Sprintf("%s of %s cannot be handled as a %s", object.String(body.Object, "kind"), object.String(body.Object, "apiVersion"), bodyCodec.Kind().Kind))
		}
		obj, fieldErrors, err := bodyCodec.Normalize(body.Object, strict)
		if c.object = obj; err == nil {
			op.setKind(obj)
		}
		return c, op.checkFields(c, fieldErrors, err, bodyCodec.Kind(), current)
	}
	options := wire.DecodeOptions{Strict: strict, Prototypes: op.bodies(&c.match)}
	if current != nil {
		options.Live = current.Live()
	}
	doc, err := body.Format.ParseFor(bodyCodec, body.Data, options)
	if err != nil {
		return nil, op.decodeError(resource.UnrecognizedBody(bodyCodec.Kind(), body.Data, err))
	}
	got, fieldErrors, err := bodyCodec.CheckBody(doc, strict)
	if err != nil {
		return nil, op.decodeError(cmp.Or(op.reportFieldErrors(got, fieldErrors), err))
	}
	obj, fieldErrors, err := doc.Decode(bodyCodec, strict)
	c.object, c.textLen = obj, len(body.Data)
	return c, op.checkFields(c, fieldErrors, err, got, current)
}

// decodeError returns the error of a body that does not decode. kube-apiserver looks up what
// the request takes for its text, and does not find the Scales of custom resources.
func (op *operation) decodeError(err error) error {
	if op.isScale() && op.Type.Scale.CustomPath != "" {
		return status.BadRequest(resource.NoTypeRegistered(op.api().Release.Minor(), op.bodyCodec().Kind()).Error())
	}
	return err
}

// checkFields sets the kind and the defaults of a decoded object. It fails for one that did not
// decode, for which err is the error, or whose field errors the options do not allow.
func (op *operation) checkFields(c *candidate, fieldErrors []error, err error, got resource.Kind, current *storage.Decoded) error {
	if err == nil {
		err = op.toInternal(c.object)
	}
	if err != nil {
		return op.decodeError(resource.UndecodableBody(got, op.bodyCodec().Kind(), err))
	}
	if op.validatesType() {
		got.Kind = object.String(c.object, "kind") // which a member such as Kind does not change
	}
	if err := op.reportFieldErrors(got, fieldErrors); err != nil {
		return op.decodeError(err)
	}
	if current != nil {
		op.setDefaults(c, current.View())
	} else {
		op.setDefaultsOfNew(c)
	}
	if op.Decoded != nil {
		op.Decoded(c.object, op.bodyCodec())
	}
	return nil
}

// reportFieldErrors returns the error of a body of a kind with field errors if the options do not allow
// those, and warns of them otherwise.
func (op *operation) reportFieldErrors(got resource.Kind, fieldErrors []error) error {
	if len(fieldErrors) > 0 && op.options.FieldValidation == "Strict" {
		if op.validatesType() && got.Version == "" {
			return status.BadRequest(resource.MissingAPIVersion)
		}
		return resource.UndecodableBody(got, got, resource.StrictError(fieldErrors))
	}
	op.warn(codec.Warnings(fieldErrors)...)
	return nil
}

// toInternal fails for a decoded object that kube-apiserver cannot convert to its internal version.
func (op *operation) toInternal(obj map[string]any) error {
	if op.isScale() || op.isAction() || op.Type.Virtual() || op.Type.ToInternal == nil {
		return nil
	}
	return op.Type.ToInternal(obj)
}

// setDefaults sets the kind and the defaults of the object of a body, or of a patched one. old is
// the stored object, in the version of the request, that was patched, or nil.
func (op *operation) setDefaults(c *candidate, old object.View) {
	switch {
	case op.isScale() || op.isAction():
		op.setKind(c.object)
		if op.groupResource() == (status.GroupResource{Resource: "serviceaccounts"}) && op.Subresource == "token" {
			serviceaccount.SetDefaults(c.object)
		}
	case op.roundTrips():
		op.setKind(c.object)
		op.roundTrip(c)
	case op.validatesType():
		setTypeDefaults(op.Type, c.object, old)
	default:
		setDefaults(op.Type, c.object, old)
		if !op.Type.Virtual() && op.Type.DefaultTime != nil {
			op.Type.DefaultTime(c.object, op.now())
		}
	}
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

// setDefaults sets the kind and the defaults of a decoded object of type t, which takes the place
// of old, or of none if that is nil.
func setDefaults(t *resource.Type, obj map[string]any, old object.View) {
	setKind(obj, t.GroupVersion, t.Kind)
	setTypeDefaults(t, obj, old)
}

// setTypeDefaults is setDefaults for an object that keeps its kind.
func setTypeDefaults(t *resource.Type, obj map[string]any, old object.View) {
	if !t.Virtual() {
		if t.Versions != nil {
			old = object.View{} // has the defaults of another version, see storage.Object.Decode
		}
		t.SetDefaults(obj, old)
	}
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

// fieldManager returns the name of the field manager of the write, "" for a deletion.
func (op *operation) fieldManager() string {
	switch {
	case op.options == nil:
		return ""
	case op.options.FieldManager != "":
		return op.options.FieldManager
	}
	return managerOf(op.UserAgent)
}

// fieldOptions returns the manager of a write and the fields that it can change.
func (op *operation) fieldOptions() fieldmanager.Options {
	out := fieldmanager.Options{Manager: op.fieldManager(), Subresource: op.Subresource, Now: op.clock.Now(), Force: op.options.Force, Sent: op.body.text,
		KeepOnError: op.api().Release.Has(behavior.KeepsFieldsOnErrors)}
	if op.ctx != op.lifetime { // see ended
		out.Context = op.ctx
	}
	m := op.managersOfType()
	switch op.Subresource {
	case "", "finalize":
		out.Fields = m.Fields
	default:
		out.Fields = m.Subresources[op.Subresource]
	}
	return out
}

// withManagedFields returns obj, which replaces current, with the fields that the
// write changed owned by its manager. It is not for applies.
func (op *operation) withManagedFields(obj map[string]any, current *storage.Decoded) map[string]any {
	return op.fieldManagers().Update(op.viewOrNil(current), obj, op.fieldOptions())
}

// maxManager is the longest name of a field manager, in bytes.
const maxManager = 128

// managerOf returns the field manager of a client that names none: its user agent
// up to the first slash, without unprintable characters.
func managerOf(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	if len(name) <= maxManager && wire.IsPrintableASCII(name) {
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

package registry

import (
	"context"
	"errors"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// nameAttempts is the number of generated names that a create tries.
const nameAttempts = 8

var (
	metadataPath = validation.NewPath("metadata")
	namePath     = metadataPath.Child("name")
)

// Create stores a new object, or carries out what a POST to a virtual type or to
// a subresource asks for: a review, a Binding, an Eviction, a TokenRequest.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values.
func (g *Registry) Create(ctx context.Context, r Request, body Body, o *WriteOptions) (Result, error) {
	op := g.write(ctx, "create", r, body, o)
	if act := op.action(); act != nil {
		return act(op)
	}
	if op.sub != nil || op.Type.Virtual() {
		return Result{}, op.notImplemented(op.verb)
	}
	c, err := op.readNew()
	if err != nil {
		return Result{}, err
	}
	if err := op.admitNamespace(admission.DisplayName("", c.object)); err != nil {
		return Result{}, err
	}
	if err := op.mutate(c, object.View{}); err != nil {
		return Result{}, err
	}
	if err := op.checkEscalation(c.object, object.View{}); err != nil {
		return Result{}, err
	}
	stored, err := op.createNamed(c)
	result, err := op.result(stored, err)
	result.Created = err == nil
	return result, err
}

// readNew decodes the body of a POST, removes what only the server sets, and
// records the managed fields.
func (op *operation) readNew() (*candidate, error) {
	c, err := op.decode(nil)
	if err != nil {
		return nil, err
	}
	meta := c.meta()
	clearSystemFields(meta)
	if err := setNamespace(meta, op.objectNamespace()); err != nil {
		return nil, err
	}
	op.dedupOwnerReferences(meta, "")
	options := op.fieldOptions()
	if like := c.match.like; like != nil {
		options.Members = like.body
	}
	c.object = op.fieldManagers().Update(object.View{}, c.object, options)
	return c, nil
}

// clearSystemFields removes from new metadata what only the server sets.
func clearSystemFields(meta map[string]any) {
	for _, name := range []string{"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(meta, name)
	}
}

// createNamed prepares and stores the object. If it has a generateName and the
// generated name is taken, it tries again with another name.
func (op *operation) createNamed(c *candidate) (*storage.Object, error) {
	meta := c.meta()
	generated := object.String(meta, "name") == "" && object.String(meta, "generateName") != ""
	for attempt := 1; ; attempt++ {
		id, err := op.newIdentity(meta)
		if err != nil {
			return nil, err
		}
		// The attempt fails if the name is taken. Only then is the candidate needed again.
		retry := generated && attempt < nameAttempts && op.store.Newest(op.Type.Key(op.objectNamespace(), id.name)) != nil
		next := c
		if retry {
			next = c.copy()
		}
		stored, err := op.createOnce(next, id)
		var st *status.Status
		if retry && errors.As(err, &st) && st.Reason == status.ReasonAlreadyExists {
			continue
		}
		return stored, err
	}
}

// createOnce prepares and stores the object with an identity.
func (op *operation) createOnce(c *candidate, id identity) (*storage.Object, error) {
	defer c.reservation.Release()
	if err := op.prepareForCreate(c, id); err != nil {
		return nil, err
	}
	// kube-apiserver ignores a resourceVersion that does not parse.
	version, err := storage.ParseVersion(object.String(c.meta(), "resourceVersion"))
	if err == nil && version != 0 && !op.dryRun() {
		return nil, status.Unclassified("resourceVersion should not be set on objects to be created")
	}
	stored, err := op.insert(c)
	if err == nil && !op.dryRun() {
		op.addPrototype(stored, c)
	}
	return stored, err
}

// checkNamespace rejects writes in a namespace that is missing and, if creating
// is set, in one that is being deleted. name is the name of the object in the error.
func (op *operation) checkNamespace(name string, creating bool) error {
	if !op.Type.Namespaced {
		return nil
	}
	namespaces := op.Surface.Lookup("", "v1", "namespaces")
	ns := op.store.Newest(namespaces.Key("", op.Namespace))
	return op.api().Plugins.CheckNamespace(namespacelifecycle.Write{
		Resource: op.groupResource(), Namespace: op.Namespace, Name: name, Creates: creating,
		Exists: ns != nil, Terminating: ns != nil && ns.Terminating,
	})
}

// An identity is the UID and the name of a new object.
type identity struct{ uid, name string }

// newIdentity returns the identity of a new object with the metadata. If the metadata has no name,
// that of a POST is generated. It fails for a type whose objects clients cannot create.
func (op *operation) newIdentity(meta map[string]any) (identity, error) {
	t, name := op.Type, object.String(meta, "name")
	if t.CreateForbidden != "" {
		return identity{}, status.Forbidden(op.groupResource(), name, t.CreateForbidden)
	}
	id := identity{uid: op.ids.UID(), name: name}
	switch prefix := object.String(meta, "generateName"); {
	case name != "":
	case prefix != "" && op.Name == "":
		id.name = op.ids.Name(prefix)
	case prefix != "": // prepareForCreate fails
	case t.GenerateUUIDName:
		id.name = op.ids.UID()
	}
	return id, nil
}

// prepareForCreate gives a new object the form that is stored, validates it
// and has it admitted. What only the server sets must be absent from its
// metadata.
func (op *operation) prepareForCreate(c *candidate, id identity) error {
	t, meta := op.Type, c.meta()
	meta["uid"] = id.uid
	meta["creationTimestamp"] = op.now()
	if id.name != object.String(meta, "name") {
		meta["name"] = id.name
	}
	if err := setNamespace(meta, op.objectNamespace()); err != nil {
		return err
	}
	if op.target == targetObject { // a Service that is created by its status gets no addresses
		if err := op.allocate(c, object.View{}); err != nil {
			return err
		}
	}
	if id.name == "" && object.String(meta, "generateName") != "" {
		return status.Internal("metadata.name was not generated")
	}
	if t.Generation != nil {
		meta["generation"] = int64(1)
	}
	if t.WarningsBeforeCreate != nil {
		op.warn(t.WarningsBeforeCreate(c.object)...)
	}
	op.prepareNew(c)
	errs := op.validateNew(c)
	if err := op.ended(); err != nil {
		return err
	}
	if len(errs) > 0 {
		return status.Invalid(op.groupKindOf(c.object), object.String(meta, "name"), errs)
	}
	op.warn(op.warningsAboutNew(c)...)
	return op.validate(c, c.object, object.View{})
}

// warningsAboutNew returns the warnings about a valid new object.
func (op *operation) warningsAboutNew(c *candidate) (warnings []string) {
	t, obj, m := op.Type, c.object, &c.match
	switch {
	case t.WarningsOnWrite == nil:
	case m.equal && !m.like.warned && t.WarningsOnMetadata != nil:
		warnings = t.WarningsOnMetadata(obj)
		if object.Checked {
			mustBeSkipped("WarningsOnWrite", t.WarningsOnWrite(obj, object.View{}), warnings)
		}
	default:
		warnings = t.WarningsOnWrite(obj, object.View{})
	}
	m.warned = len(warnings) > 0
	return warnings
}

// validateNew returns what is wrong with a new object.
func (op *operation) validateNew(c *candidate) validation.List {
	var errs validation.List
	t, obj, meta := op.Type, c.object, c.meta()
	metadata := validation.NewMetadata(meta, metadataPath)
	validates := t.MetadataValidation != resource.MetadataNone && !op.isForeign(obj)
	if validates {
		errs = metadata.New(t.Namespaced, t.Strategy.Name)
		if t.DeclaresName && object.String(meta, "name") != "" {
			for _, e := range errs {
				if e.Field == namePath.String() {
					e.Declarative()
				}
			}
		}
		errs = append(errs, op.validateFinalizerNames(meta)...)
	}
	errs = append(errs, op.validateIn(obj, object.View{})...)
	if c.match.equal && t.ValidateMetadata != nil {
		errs = append(errs, op.validatePart(t.ValidateMetadata, obj, object.View{})...)
	} else {
		errs = t.ValidateAll(op.ctx, obj, object.View{}, errs)
	}
	errs = op.inWordsOfRelease(errs)
	switch {
	case len(errs) > 0:
	case validates: // only another rule for names can find more
		errs = op.inWordsOfRelease(metadata.Names(validation.PathSegmentName))
	default:
		errs = op.inWordsOfRelease(metadata.New(t.Namespaced, validation.PathSegmentName))
	}
	return op.validateReferences(obj, object.View{}, errs)
}

// inWordsOfRelease returns the errors that the server's release has, in its words.
func (op *operation) inWordsOfRelease(errs validation.List) validation.List {
	in := validation.List.In
	if op.Type.RepeatsErrors {
		in = validation.List.Repeated
	}
	return in(errs, op.api().Release, op.Type.Group, op.Type.Kind).Quantities(op.sentQuantity)
}

// validateIn checks what the type's objects may have in some namespaces only.
func (op *operation) validateIn(obj map[string]any, old object.View) validation.List {
	if op.Type.ValidateInNamespace == nil {
		return nil
	}
	return op.Type.ValidateInNamespace(op.write(obj, old))
}

// validateReferences returns errs, the errors of an object, or if there are none, what its author may not
// read of what it refers to.
func (op *operation) validateReferences(obj map[string]any, old object.View, errs validation.List) validation.List {
	if op.Type.ValidateReferences == nil || len(errs) > 0 {
		return errs
	}
	return op.Type.ValidateReferences(op.write(obj, old))
}

// write describes the operation to the strategy of its type.
func (op *operation) write(obj map[string]any, old object.View) *resource.Write {
	w := &resource.Write{Object: obj, Old: old, Reader: reader{op}, Verb: op.verb, Author: op.author()}
	w.Authorize = func(verb, subresource, namespace, name string) error {
		at := op.attributes()
		at.Verb, at.Subresource, at.Namespace, at.Name = verb, subresource, namespace, name
		return op.authorize(at)
	}
	w.MayRead = func(verb string, kind resource.Kind, namespace, name string) (allowed, served bool, err error) {
		at := authz.Attributes{Verb: verb, IsResource: true, Group: "*", Version: authz.AnyVersion, Resource: "*", Namespace: namespace, Name: name}
		if kind != (resource.Kind{}) {
			at.Group, at.Version = kind.Group, kind.Version
			if t := op.Surface.ForKind(kind); t != nil {
				at.Resource, served = t.Name, true
			}
		}
		if op.User.InGroup(authn.MastersGroup) { // no authorizer is asked
			reader{op}.need(at)
			return true, served, nil
		}
		d := reader{op}.Authorize(at)
		return d.Allowed, served, d.Err
	}
	w.MaySign = func(signer string) bool { return admission.AuthorizedForSigner(reader{op}, "sign", signer) }
	return w
}

// validateFinalizerNames checks that finalizers are standard or qualified, where
// the type requires that.
func (op *operation) validateFinalizerNames(meta map[string]any) validation.List {
	if op.Type.AllowUnqualifiedFinalizers {
		return nil
	}
	return validation.FinalizerNames(meta, metadataPath)
}

// author returns the user and the time of the request.
func (op *operation) author() resource.Author {
	return resource.Author{User: *op.User, Now: op.now()}
}

// stamp writes into obj what its type takes from the request.
func (op *operation) stamp(obj map[string]any, old object.View) {
	if op.Type.PrepareWithAuthor != nil {
		op.Type.PrepareWithAuthor(obj, old, op.author())
	}
}

// insert stores a new object and returns it as stored. A dry run returns it
// with the resourceVersion of the body.
//
// Differs from kube-apiserver: admission that renames: kube-apiserver stores an object that a
// PATCH or PUT creates under the name in the URL, even if a webhook or a policy has given the
// object another one. Here it is stored under its own name, and the request fails with 409 if
// another object has that. Request: PATCH with Content-Type application/apply-patch+yaml that
// creates an object, which a webhook renames.
func (op *operation) insert(c *candidate) (*storage.Object, error) {
	var old object.View
	var like *storage.Object
	if c.match.equal { // and has its last defaults
		old, like = object.ViewOf(c.object), c.match.like.decoded.Stored
	}
	claimed := object.String(c.meta(), "resourceVersion")
	draft, err := op.draft(c, old, like)
	if err != nil {
		return nil, err
	}
	key := op.Type.Key(draft.Namespace, draft.Name)
	if op.dryRun() {
		if o := op.store.Newest(key); o != nil {
			return nil, op.alreadyExists(c.meta(), o)
		}
		if claimed != "" {
			draft = draft.WithVersionText(claimed)
		}
		return draft, nil
	}
	if draft, err = op.dropManagedFieldsIfTooLarge(c, draft); err != nil {
		return nil, err
	}
	var stored *storage.Object
	effects := op.api().Allocator.SideEffects(op.Type, nil, draft)
	err = op.commit(func(tx storage.Txn) error {
		if item, ok := tx.Get(key); ok {
			return op.alreadyExists(c.meta(), item.Value)
		}
		effects.Allocate(tx)
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		if op.Type.DefinesAPI { // commit serves it
			op.keepDraft(stored, nil, c)
		}
		return nil
	})
	return stored, err
}

// draft is storage.Draft for a candidate. Fields that webhooks have
// added and that the version of the request does not have are not stored.
func (op *operation) draft(c *candidate, old object.View, newest *storage.Object) (*storage.Object, error) {
	if c.replaced && op.Type.Prune != nil {
		if err := op.Type.Prune(c.object); err != nil {
			return nil, err
		}
	}
	if c.unpruned {
		c.object = op.Type.WithoutUnknown(c.object)
	}
	if c.stored != nil {
		return op.draftStored(c, newest), nil
	}
	obj := c.object
	if op.Type.Storage() != op.Type {
		obj = withNullTexts(obj, c.nullTexts)
	}
	draft, err := storage.Draft(op.ctx, op.Type, obj, old, newest)
	if err == nil && c.rawMetadata && op.Type.Storage() == op.Type { // a conversion decodes it
		draft.Completed = true
	}
	return draft, err
}

// alreadyExists is the error for a new object with the metadata, whose name another object has.
func (op *operation) alreadyExists(meta map[string]any, existing *storage.Object) error {
	st := status.AlreadyExists(op.groupResource(), object.String(meta, "name"))
	if object.String(meta, "generateName") != "" {
		st.Message += ", the server was not able to generate a unique name for the object"
		st.Details.RetryAfterSeconds = 1
	}
	if existing.Terminating {
		st.Message = "object is being deleted: " + st.Message
	}
	return st
}

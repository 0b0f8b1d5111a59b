package apiserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// nameAttempts is how many generated names are tried before a create fails.
const nameAttempts = 8

// create stores a new object.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values.
func (r *request) create() error {
	obj, o, err := r.readNew()
	if err != nil {
		return err
	}
	if err := r.admitNamespace(object.String(obj, "metadata", "name"), true); err != nil {
		return err
	}
	if err := r.mutate(obj, nil, o); err != nil {
		return err
	}
	if err := r.checkEscalation(obj, nil); err != nil {
		return err
	}
	stored, err := r.createNamed(obj, o)
	if err != nil {
		return err
	}
	return r.answer(http.StatusCreated, stored)
}

// readNew reads the object that a POST brings, without what is the server's to
// give, and with its managed fields.
func (r *request) readNew() (map[string]any, *writeOptions, error) {
	obj, o, err := r.readPosted()
	if err != nil {
		return nil, nil, err
	}
	meta := object.Meta(obj)
	clearSystemFields(meta)
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return nil, nil, err
	}
	r.dedupOwners(meta, "")
	return r.tracked().Update(nil, obj, r.fieldOptions(o)), o, nil
}

// readPosted reads the object that a POST brings, as it is, and the options.
func (r *request) readPosted() (map[string]any, *writeOptions, error) {
	format, err := r.bodyFormat()
	if err != nil {
		return nil, nil, err
	}
	body, err := r.readBody()
	if err != nil {
		return nil, nil, err
	}
	o, err := r.writeOptions("CreateOptions")
	if err != nil {
		return nil, nil, err
	}
	obj, err := r.decode(format, body, o)
	return obj, o, err
}

// createNamed prepares and stores the object; one whose name is generated is
// tried again with another name if an object has it.
func (r *request) createNamed(obj map[string]any, o *writeOptions) (*storage.Object, error) {
	defer r.release()
	generated := object.String(obj, "metadata", "name") == "" && object.String(obj, "metadata", "generateName") != ""
	for attempt := 1; ; attempt++ {
		next := obj
		if generated {
			next = object.Copy(obj)
		}
		if err := r.prepareNew(next, o); err != nil {
			return nil, err
		}
		// What does not parse as a version is none: kube-apiserver ignores it too.
		claimed := object.String(next, "metadata", "resourceVersion")
		version, err := storage.ParseVersion(claimed)
		if err == nil && version != 0 && !o.dryRun() {
			return nil, status.Unclassified("resourceVersion should not be set on objects to be created")
		}
		stored, err := r.insert(next, o.dryRun())
		if o.dryRun() && claimed != "" && stored != nil {
			stored = stored.WithVersionText(claimed) // a dry run shows what it was sent
		}
		var st *status.Status
		if generated && attempt < nameAttempts && errors.As(err, &st) && st.Reason == status.ReasonAlreadyExists {
			continue
		}
		return stored, err
	}
}

// clearSystemFields takes from new metadata what only the server sets.
func clearSystemFields(meta map[string]any) {
	for _, name := range []string{"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(meta, name)
	}
}

// timestamp prints a time as metadata has it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

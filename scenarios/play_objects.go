package scenarios

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/route"
)

// A change is how kubectl changes an object.
type change struct {
	objects   Objects
	method    string
	mediaType string
	query     string
}

// changes returns the changes of a step.
func (s *Step) changes() []change {
	patchType := cmp.Or(s.Type, "application/merge-patch+json")
	return []change{
		{s.Create, http.MethodPost, "", "?fieldManager=kubectl-create&fieldValidation=Strict"},
		{s.Update, http.MethodPut, "", "?fieldManager=kubectl-replace&fieldValidation=Strict"},
		{s.Patch, http.MethodPatch, patchType, "?fieldManager=kubectl-patch&fieldValidation=Strict"},
		{s.Apply, http.MethodPatch, "application/apply-patch+yaml", "?fieldManager=kubectl&force=true&fieldValidation=Strict"},
		{s.Delete, http.MethodDelete, "", ""},
	}
}

// deletion is the body of a deletion, which leaves the rest to finalizers and the garbage
// collector.
const deletion = `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`

// changeAsUser changes the objects of a step with requests, as kubectl does. It returns the last
// answer. A refusal is an error if the step does not say what it wants.
func (p *play) changeAsUser(st *Step) (*Answer, error) {
	var got *Answer
	for _, c := range st.changes() {
		for _, o := range c.objects {
			path, err := p.pathOf(st, o, c.method != http.MethodPost)
			if err != nil {
				return nil, err
			}
			request, err := p.changeRequest(st, c, o, path)
			if err != nil {
				return nil, err
			}
			got, err = p.send(request)
			if err == nil && !st.compares() && st.Want == nil && got.Status >= http.StatusBadRequest {
				err = fmt.Errorf("%d %s", got.Status, statusMessage(got.Body))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return got, nil
}

// changeRequest returns the request that changes an object.
func (p *play) changeRequest(st *Step, c change, o map[string]any, path string) (*Step, error) {
	request := &Step{Do: c.method + " " + path + c.query, Type: c.mediaType, User: st.User, As: st.As, Groups: st.Groups, Headers: st.Headers, Capture: st.Capture}
	switch c.method {
	case http.MethodDelete:
		request.Raw = deletion
		return request, nil
	case http.MethodPut:
		var err error
		if o, err = p.withVersion(o, path); err != nil {
			return nil, err
		}
	}
	body, err := marshal(o)
	request.Raw = string(body)
	return request, err
}

// withVersion returns an object with the resourceVersion that is stored, if it has none, as
// kubectl replace sends it.
func (p *play) withVersion(o map[string]any, path string) (map[string]any, error) {
	if object.String(o, "metadata", "resourceVersion") != "" {
		return o, nil
	}
	current, err := p.send(&Step{Do: "GET " + path})
	if err != nil || current.Status != http.StatusOK {
		return o, err
	}
	o = object.Copy(o)
	body, _ := current.Body.(map[string]any)
	object.Set(o, object.String(body, "metadata", "resourceVersion"), "metadata", "resourceVersion")
	return o, nil
}

// statusMessage returns the message of a decoded Status, or the body if it is none.
func statusMessage(body any) string {
	if status, ok := body.(map[string]any); ok && status["message"] != nil {
		return fmt.Sprint(status["message"])
	}
	return short(body)
}

// pathOf returns the path of an object, or that of all objects of its type, which discovery knows.
// It waits for a definition that was just created. An object without a namespace is in the
// namespace default, if its kind has one.
func (p *play) pathOf(st *Step, o map[string]any, named bool) (string, error) {
	version, kind := p.vars.expand(object.String(o, "apiVersion")), object.String(o, "kind")
	root := route.VersionPath(version)
	namespace, name := object.String(o, "metadata", "namespace"), object.String(o, "metadata", "name")
	switch {
	case version == "" || kind == "":
		return "", fmt.Errorf("the object needs apiVersion and kind")
	case name == "" && named:
		return "", fmt.Errorf("the object needs metadata.name")
	}
	for timeout := p.timeout(); ; {
		plural, namespaced, err := p.resourceOf(st, root, kind)
		if err != nil {
			return "", err
		}
		if plural != "" {
			if namespaced {
				root += "/namespaces/" + cmp.Or(namespace, "default")
			}
			root += "/" + plural
			if named {
				root += "/" + pathEscape(name)
			}
			if st.Subresource != "" {
				root += "/" + st.Subresource
			}
			return root, nil
		}
		if again, err := p.retry(timeout); err != nil || !again {
			return "", cmp.Or(err, fmt.Errorf("the server has no kind %s in %s", kind, version))
		}
	}
}

// resourceOf returns the plural of a kind in the discovery document at a path; "" if there is none.
func (p *play) resourceOf(st *Step, root, kind string) (plural string, namespaced bool, err error) {
	k, ok := p.discovered[root][kind]
	if !ok {
		found, err := p.send(&Step{Do: "GET " + root, User: st.User})
		if err != nil {
			return "", false, err
		}
		document, err := marshal(found.Body)
		if err != nil {
			return "", false, err
		}
		p.discovered[root] = discovery.ParseKinds(document)
		k = p.discovered[root][kind]
	}
	return k.Resource, k.Namespaced, nil
}

// pathEscape escapes a name for a path, apart from variables.
func pathEscape(name string) string {
	return strings.NewReplacer("%7B", "{", "%7D", "}").Replace(url.PathEscape(name))
}

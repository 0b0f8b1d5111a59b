package scenarios

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// changeAsUser applies or deletes the objects of a step with requests, as kubectl does. It returns
// the last answer. A refusal is an error if the step does not say what it wants.
func (p *play) changeAsUser(st *Step) (*Answer, error) {
	var got *Answer
	for _, o := range st.Apply {
		body, err := marshal(o)
		if err != nil {
			return nil, err
		}
		if got, err = p.changeObject(st, o, &Step{
			Do: http.MethodPatch, Type: "application/apply-patch+yaml", Raw: string(body),
		}, "?fieldManager=kubectl&force=true"); err != nil {
			return nil, err
		}
	}
	for _, o := range st.Delete {
		var err error
		if got, err = p.changeObject(st, o, &Step{
			Do: http.MethodDelete, Raw: `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`,
		}, ""); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// changeObject sends the request of a step for one of its objects.
func (p *play) changeObject(st *Step, o map[string]any, request *Step, query string) (*Answer, error) {
	path, err := p.pathOf(st, o)
	if err != nil {
		return nil, err
	}
	request.Do += " " + path + query
	request.User, request.Headers = st.User, st.Headers
	got, err := p.send(request)
	if err == nil && st.Want == nil && got.Status >= http.StatusBadRequest {
		err = fmt.Errorf("%d %s", got.Status, statusMessage(got.Body))
	}
	return got, err
}

// statusMessage returns the message of a decoded Status, or the body if it is none.
func statusMessage(body any) string {
	if status, ok := body.(map[string]any); ok && status["message"] != nil {
		return fmt.Sprint(status["message"])
	}
	return short(body)
}

// pathOf returns the path of an object, which discovery knows. It waits for a definition that was
// just created. An object without a namespace is in the namespace default, if its kind has one.
func (p *play) pathOf(st *Step, o map[string]any) (string, error) {
	version, kind := p.vars.expand(object.String(o, "apiVersion")), object.String(o, "kind")
	root := "/apis/" + version
	if !strings.Contains(version, "/") {
		root = "/api/" + version
	}
	namespace, name := object.String(o, "metadata", "namespace"), object.String(o, "metadata", "name")
	if version == "" || kind == "" || name == "" {
		return "", fmt.Errorf("the object needs apiVersion, kind and metadata.name")
	}
	for timeout := p.timeout(); ; {
		found, err := p.send(&Step{Do: "GET " + root, User: st.User})
		if err != nil {
			return "", err
		}
		list, _ := found.Body.(map[string]any)
		for r := range object.Each(list["resources"]) {
			if plural := object.String(r, "name"); r["kind"] == kind && !strings.Contains(plural, "/") {
				if r["namespaced"] == true {
					root += "/namespaces/" + cmp.Or(namespace, "default")
				}
				return root + "/" + plural + "/" + pathEscape(name), nil
			}
		}
		if again, err := p.retry(timeout); err != nil || !again {
			return "", cmp.Or(err, fmt.Errorf("the server has no kind %s in %s", kind, version))
		}
	}
}

// pathEscape escapes a name for a path, apart from variables.
func pathEscape(name string) string {
	return strings.NewReplacer("%7B", "{", "%7D", "}").Replace(url.PathEscape(name))
}

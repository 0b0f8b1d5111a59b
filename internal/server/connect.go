package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// The subresources below connect a client to a kubelet, a pod or a service. No
// such thing runs here: a request that kube-apiserver answers by itself is
// answered, one that a test has set the answer of too, and one that kube-apiserver would
// forward fails with 501.

// connections serve the subresources that connect, by resource and subresource.
var connections = map[[2]string]func(*request) error{
	{"pods", "log"}:         (*request).podLog,
	{"pods", "exec"}:        (*request).podExec,
	{"pods", "attach"}:      (*request).podAttach,
	{"pods", "portforward"}: (*request).portForward,
	{"pods", "proxy"}:       (*request).podProxy,
	{"services", "proxy"}:   (*request).serviceProxy,
	{"nodes", "proxy"}:      (*request).nodeProxy,
}

// connection returns the function that serves the request if it is for a
// subresource that connects, nil otherwise.
func (r *request) connection() func(*request) error {
	if r.sub == nil || r.Group != "" {
		return nil
	}
	return connections[[2]string{r.Resource, r.Subresource}]
}

// admitConnection has policies and webhooks admit a connection.
func (r *request) admitConnection() error {
	if r.Subresource == "log" {
		return nil
	}
	if r.query().Has("dryRun") {
		return status.BadRequest("dryRun is not supported")
	}
	return r.server.cluster.AdmitConnect(r.ctx(), r.target(), r.connectOptions())
}

// connectOptions returns the options of a connection in the query.
func (r *request) connectOptions() map[string]any {
	q := r.query()
	obj := map[string]any{"kind": r.sub.Kind.Kind, "apiVersion": r.sub.Kind.GroupVersion.String()}
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		if b := boolOf(q, name); b != nil {
			obj[name] = *b
		}
	}
	if q.Has("container") {
		obj["container"] = q.Get("container")
	}
	if len(q["command"]) > 0 {
		obj["command"] = object.FromStrings(q["command"])
	}
	var ports []any
	for _, list := range q["ports"] {
		for _, text := range strings.Split(list, ",") {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				ports = append(ports, n)
			}
		}
	}
	if len(ports) > 0 {
		obj["ports"] = ports
	}
	if path := r.Rest; path != "" {
		obj["path"] = "/" + strings.TrimPrefix(path, "/")
	}
	return obj
}

// passOn is the error of a request that kube-apiserver would forward. It names what sets
// the answer.
func (r *request) passOn() error {
	text := fmt.Sprintf("%s/%s: nothing runs here to connect with", r.Resource, r.Subresource)
	if r.Resource == "pods" {
		switch r.Subresource {
		case "log":
			text += "; POST /debug/fakeapi/pods or, in Go, srv.Kubelet().Pods(...).SetLog sets the log"
		case "exec":
			text += "; in Go, srv.Kubelet().Pods(...).HandleExec sets what runs commands"
		}
	}
	return status.NotImplemented(text)
}

// podLog serves the log of a container: what a test has set, if it has. The log of a pod
// without a node is empty.
func (r *request) podLog() error {
	if errs, err := r.logOptions(); err != nil {
		return err
	} else if len(errs) > 0 {
		return status.Invalid(status.GroupKind{Kind: "PodLogOptions"}, r.Name, errs)
	}
	pod, err := r.connectedPod(r.Name)
	if err != nil {
		return err
	}
	if err := checkContainer(pod, r.query().Get("container")); err != nil {
		return err
	}
	switch r.out.View {
	case codec.PartialMetadata:
		return status.Unclassified("object does not implement the Object interfaces")
	case codec.PartialMetadataList:
		return r.viewRefused("not a list (*rest.LocationStreamer)")
	}
	container := containerOf(pod, r.query().Get("container"))
	if text, ok := r.server.manager.Lifecycle().LogOf(r.Namespace, labelsOf(pod), container); ok {
		return r.writeLog(text)
	}
	node := object.String(pod, "spec", "nodeName")
	if node == "" {
		r.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return r.connectNode(node)
}

// containerOf returns the name of a container of a Pod: the first one if name is "".
func containerOf(pod map[string]any, name string) string {
	if name != "" {
		return name
	}
	return object.String(object.List(pod, "spec", "containers")[0].(map[string]any), "name")
}

func labelsOf(o map[string]any) map[string]string {
	out := map[string]string{}
	for name, value := range object.Map(o, "metadata", "labels") {
		out[name], _ = value.(string)
	}
	return out
}

// writeLog writes the last lines of a log, as many as the request asks for.
func (r *request) writeLog(text string) error {
	q := r.query()
	if n, err := intOf(q, "tailLines"); err == nil && n != nil {
		lines := strings.SplitAfter(text, "\n")
		if last := len(lines) - 1; lines[last] == "" {
			lines = lines[:last]
		}
		text = strings.Join(lines[max(0, int64(len(lines))-*n):], "")
	}
	if n, err := intOf(q, "limitBytes"); err == nil && n != nil {
		text = text[:min(int64(len(text)), *n)]
	}
	r.w.Header().Set("Content-Type", "text/plain")
	_, err := io.WriteString(r.w, text)
	return err
}

// logOptions returns what is wrong with the parameters of a log.
func (r *request) logOptions() (errs validation.List, err error) {
	q := r.query()
	var sinceSeconds, tailLines, limitBytes *int64
	if sinceSeconds, err = intOf(q, "sinceSeconds"); err != nil {
		return nil, err
	}
	if q.Has("sinceTime") {
		if _, err := time.Parse(time.RFC3339, q.Get("sinceTime")); err != nil {
			return nil, status.BadRequest(err.Error())
		}
	}
	if tailLines, err = intOf(q, "tailLines"); err != nil {
		return nil, err
	}
	if limitBytes, err = intOf(q, "limitBytes"); err != nil {
		return nil, err
	}
	if tailLines != nil && *tailLines < 0 {
		errs = append(errs, validation.Invalid(validation.NewPath("tailLines"), *tailLines, "must be greater than or equal to 0"))
	}
	if limitBytes != nil && *limitBytes < 1 {
		errs = append(errs, validation.Invalid(validation.NewPath("limitBytes"), *limitBytes, "must be greater than 0"))
	}
	switch {
	case sinceSeconds != nil && q.Has("sinceTime"):
		errs = append(errs, &validation.Error{Reason: validation.ReasonForbidden, Field: "[]", BadValue: "", Detail: "at most one of `sinceTime` or `sinceSeconds` may be specified"})
	case sinceSeconds != nil && *sinceSeconds < 1:
		errs = append(errs, validation.Invalid(validation.NewPath("sinceSeconds"), *sinceSeconds, "must be greater than 0"))
	}
	if q.Has("stream") {
		errs = append(errs, validation.Forbidden(validation.NewPath("stream"), "may not be specified"))
	}
	return errs, nil
}

// authorizeUpgrade requires that the user may create the subresource, whatever the verb of
// the request: a WebSocket opens with a GET.
//
// See https://github.com/kubernetes/kubernetes/issues/133515.
func (r *request) authorizeUpgrade() error {
	if r.Verb == "create" || !r.surface.Release().Enabled("AuthorizePodWebsocketUpgradeCreatePermission") {
		return nil
	}
	at := r.attributes()
	at.Verb = "create"
	d := r.server.cluster.Authorizer().Authorize(r.ctx(), r.user, &at)
	switch {
	case d.Err != nil:
		return d.Err
	case !d.Allowed:
		return status.Forbidden(r.groupResource(), r.Name, d.Reason)
	}
	return nil
}

func (r *request) podAttach() error {
	if err := r.authorizeUpgrade(); err != nil {
		return err
	}
	pod, err := r.connectedPod(r.Name)
	if err != nil {
		return err
	}
	if err := checkContainer(pod, r.query().Get("container")); err != nil {
		return err
	}
	return r.connectPodNode(pod)
}

func (r *request) portForward() error {
	for _, ports := range r.query()["ports"] {
		for _, port := range strings.Split(ports, ",") {
			if _, err := strconv.ParseUint(port, 10, 16); err != nil {
				return status.BadRequest("cannot convert to []int32: " + err.Error())
			}
		}
	}
	if err := r.authorizeUpgrade(); err != nil {
		return err
	}
	pod, err := r.connectedPod(r.Name)
	if err != nil {
		return err
	}
	return r.connectPodNode(pod)
}

// connectedPod returns the pod of a name in the request's namespace.
func (r *request) connectedPod(name string) (map[string]any, error) {
	o, err := r.connected("pods", name)
	if err != nil {
		return nil, err
	}
	return o.Decode(r.surface.Lookup("", "v1", "pods")), nil
}

// connected returns an object that a connection needs. If it is missing, the
// error names the request's resource.
func (r *request) connected(plural, name string) (*storage.Object, error) {
	if err := resource.CheckName(name); err != nil {
		return nil, err
	}
	o := r.newest(plural, r.Namespace, name)
	if o == nil {
		return nil, status.NotFound(r.groupResource(), name)
	}
	return o, nil
}

// checkContainer fails for a name that no container of the pod has, and for no
// name unless the pod has one container.
func checkContainer(pod map[string]any, name string) error {
	var names []string
	for _, member := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for c := range object.Each(object.Value(pod, "spec", member)) {
			names = append(names, object.String(c, "name"))
		}
	}
	podName := object.String(pod, "metadata", "name")
	n := len(object.List(pod, "spec", "containers"))
	switch {
	case name != "" && !slices.Contains(names, name):
		return status.BadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, podName))
	case name == "" && n == 0:
		return status.BadRequest("a container name must be specified for pod " + podName)
	case name == "" && n > 1:
		return status.BadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", podName, names))
	}
	return nil
}

// connectPodNode connects to the kubelet of a pod.
func (r *request) connectPodNode(pod map[string]any) error {
	node := object.String(pod, "spec", "nodeName")
	if node == "" {
		return status.BadRequest(fmt.Sprintf("pod %s does not have a host assigned", r.Name))
	}
	return r.connectNode(node)
}

// addressTypes are the types of addresses at which kubelets are called.
var addressTypes = []any{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}

// connectNode connects to the kubelet of a node.
func (r *request) connectNode(name string) error {
	o := r.newest("nodes", "", name)
	if o == nil {
		return status.NotFound(r.groupResource(), name)
	}
	node := o.Decode(r.surface.Lookup("", "v1", "nodes"))
	type address struct{ Type, Address string }
	known := []address{}
	for a := range object.Each(object.Value(node, "status", "addresses")) {
		if slices.Contains(addressTypes, a["type"]) {
			return r.passOn()
		}
		known = append(known, address{object.String(a, "type"), object.String(a, "address")})
	}
	return status.Unclassified(fmt.Sprintf("no preferred addresses found; known addresses: %v", known))
}

// newest returns an object of the core group, nil if it does not exist.
func (r *request) newest(resource, namespace, name string) *storage.Object {
	t := r.surface.Builtin().Lookup("", "v1", resource)
	if t == nil {
		return nil
	}
	return r.server.cluster.Store().Newest(t.Key(namespace, name))
}

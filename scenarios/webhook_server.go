package scenarios

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/httptest"
)

// webhooks is the webhook server of a scenario. It has no state.
type webhooks struct {
	*httptest.Server
}

func startWebhooks() (webhooks, error) {
	srv, err := httptest.Start(http.HandlerFunc(serveWebhook), httptest.Options{TLS: true})
	return webhooks{srv}, err
}

// caBundle returns the certificate that clients of the server must trust.
func (w webhooks) caBundle() string { return base64.StdEncoding.EncodeToString(w.CACertificate()) }

func serveWebhook(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request, _ := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"]}
	switch {
	case r.URL.Path == "/error":
		http.Error(w, "webhook broke", http.StatusInternalServerError)
		return
	case r.URL.Path == "/slow":
		select {
		case <-r.Context().Done():
			return
		case <-time.After(3 * time.Second):
		}
		response["allowed"] = true
	case strings.HasPrefix(r.URL.Path, "/convert"):
		convert(r.URL.Path, request, response)
	default:
		admit(r.URL.Path, request, response)
	}
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client has disconnected.
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review["apiVersion"],
		"kind":       review["kind"],
		"response":   response,
	})
}

func convert(path string, request, response map[string]any) {
	if path == "/convert-fail" {
		response["result"] = map[string]any{"status": "Failed", "message": "hostPort could not be parsed into a separate host and port"}
		return
	}
	desired, _ := request["desiredAPIVersion"].(string)
	objects, _ := request["objects"].([]any)
	for _, o := range objects {
		object, ok := o.(map[string]any)
		if !ok {
			continue
		}
		object["apiVersion"] = desired
		fields := object
		if spec, ok := object["spec"].(map[string]any); ok {
			fields = spec
		}
		if strings.HasSuffix(desired, "/v1beta1") {
			joinHostPort(fields)
		} else {
			splitHostPort(fields)
		}
		if meta, ok := object["metadata"].(map[string]any); ok && path == "/convert-rename" {
			meta["name"] = "renamed"
		}
	}
	response["result"] = map[string]any{"status": "Success"}
	response["convertedObjects"] = objects
}

func joinHostPort(fields map[string]any) {
	host, ok := fields["host"].(string)
	if !ok {
		return
	}
	port, _ := fields["port"].(string)
	fields["hostPort"] = host + ":" + port
	delete(fields, "host")
	delete(fields, "port")
}

func splitHostPort(fields map[string]any) {
	both, ok := fields["hostPort"].(string)
	if !ok {
		return
	}
	fields["host"], fields["port"], _ = strings.Cut(both, ":")
	delete(fields, "hostPort")
}

func admit(path string, request, response map[string]any) {
	object, _ := request["object"].(map[string]any)
	meta, _ := object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	response["allowed"] = true
	switch path {
	case "/mutate":
		patch := []map[string]any{}
		if meta != nil && labels == nil {
			patch = append(patch, map[string]any{"op": "add", "path": "/metadata/labels", "value": map[string]any{}})
		}
		if meta != nil {
			patch = append(patch, map[string]any{"op": "add", "path": "/metadata/labels/mutated", "value": "true"})
		}
		b, _ := json.Marshal(patch)
		response["patchType"] = "JSONPatch"
		response["patch"] = base64.StdEncoding.EncodeToString(b)
	case "/validate":
		if labels["deny"] == "true" {
			response["allowed"] = false
			response["status"] = map[string]any{"code": 403, "reason": "Forbidden", "message": "the label deny says no"}
		}
		if labels["warn"] == "true" {
			response["warnings"] = []string{"the label warn says careful"}
		}
	case "/echo":
		resource, _ := request["resource"].(map[string]any)
		user, _ := request["userInfo"].(map[string]any)
		operation, _ := request["operation"].(string)
		plural, _ := resource["resource"].(string)
		sub, _ := request["subResource"].(string)
		name, _ := user["username"].(string)
		dryRun, _ := json.Marshal(request["dryRun"])
		response["warnings"] = []string{operation + " " + plural + " " + sub + " dryRun=" + string(dryRun) + " user=" + name}
	}
}

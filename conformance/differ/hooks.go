package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
)

// hooks are the webhooks of all stories: https://HOST/PROBE/BEHAVIOR refuses the object
// named PROBE, and else behaves as its URL says; https://HOST/convert/shared converts custom
// resources, see convertShared.
type hooks struct{ server *httptest.Server }

func startHooks() *hooks {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /convert/shared", func(w http.ResponseWriter, r *http.Request) {
		var review object
		d := json.NewDecoder(r.Body)
		d.UseNumber()
		if err := d.Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(convertShared(review)) // the server that calls may be gone
	})
	mux.HandleFunc("POST /{probe}/{behavior}", func(w http.ResponseWriter, r *http.Request) {
		var review object
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		behavior := r.PathValue("behavior")
		request, _ := review["request"].(object)
		if name, _ := request["name"].(string); strings.HasPrefix(name, "probe-") {
			behavior = "allow"
			if name == r.PathValue("probe") {
				behavior = "probe"
			}
		}
		status, body := respond(behavior, review)
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if text, ok := body.(string); ok {
			_, _ = w.Write([]byte(text))
			return
		}
		_ = json.NewEncoder(w).Encode(body) // the server that calls may be gone
	})
	return &hooks{httptest.NewTLSServer(mux)}
}

// placeholders returns the texts of the placeholders of steps.
func (h *hooks) placeholders() []string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw})
	return []string{"{hook}", h.server.URL, "{ca}", base64.StdEncoding.EncodeToString(ca)}
}

func (h *hooks) close() { h.server.Close() }

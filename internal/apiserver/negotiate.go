package apiserver

import (
	"mime"
	"strings"

	"github.com/kubefake/kubefake/internal/status"
)

// offered are the media types that kube-apiserver answers and reads.
var offered = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}

// negotiate finds the media type of the answer. This server answers JSON; a
// clause that asks for JSON in another shape, such as a Table, is passed over
// as kube-apiserver passes over what it does not know.
//
// Differs from kube-apiserver: YAML, protobuf and Tables are not answered.
func (r *request) negotiate() error {
	accept := r.http.Header.Get("Accept")
	if accept == "" {
		return nil
	}
	known := false
	for clause := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		switch name {
		case "application/json", "*/*":
			as, version := params["as"], params["v"]
			switch {
			case as == "":
				return nil
			case (as == asTable || as == asPartialMetadata || as == asPartialMetadataList) && params["g"] == "meta.k8s.io" && (version == "v1" || version == "v1beta1"):
				r.as, r.asVersion = as, version
				return nil
			}
		case "application/yaml", "application/vnd.kubernetes.protobuf":
			known = true
		case "application/cbor":
			known = known || r.server.config.enabled(cborGate)
		}
	}
	if known {
		return status.NotImplemented("answers as " + accept)
	}
	return status.NotAcceptable(offered)
}

// checkContentType refuses bodies in another format than JSON. No content type
// means JSON.
func (r *request) checkContentType() error {
	ct := r.http.Header.Get("Content-Type")
	if ct == "" {
		return nil
	}
	name, _, err := mime.ParseMediaType(ct)
	switch {
	case err != nil:
		return status.UnsupportedMediaType(offered)
	case name == "application/json":
		return nil
	case name == "application/yaml" || name == "application/vnd.kubernetes.protobuf",
		name == "application/cbor" && r.server.config.enabled(cborGate):
		return status.NotImplemented("bodies in " + name)
	}
	return status.UnsupportedMediaType(offered)
}

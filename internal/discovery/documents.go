package discovery

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/codec/accept"
	"github.com/kubefake/kubefake/internal/status"
)

// Documents are the discovery documents of one Surface. Each is rendered on
// first use and kept. Documents are immutable and safe for concurrent use.
type Documents struct {
	encodings []Encoding
	beta      bool // see Surface.Beta
	byPath    map[string]*document
	root      func() []byte
}

// A document is the response at one path.
type document struct {
	plain      func(r *http.Request) []byte
	aggregated func(version string) aggregated // nil if there is only the plain form
	anyMethod  bool                            // set for paths that kube-apiserver serves outside of its router: every method is accepted
	routed     bool                            // set if kube-apiserver's router checks Accept
}

// betaVersion is the version of aggregated documents before v2.
const betaVersion = "v2beta1"

type aggregated struct {
	version string
	body    []byte
	etag    string // quoted hash of the items, the same for all media types
}

const (
	jsonType = "application/json"

	// aggregatedType is the suffix of the media types of aggregated documents.
	aggregatedType = ";g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList"
)

// New returns the documents of a surface. The surface and everything it refers
// to must not change afterwards.
func New(s Surface) *Documents {
	d := &Documents{encodings: s.Encodings, beta: s.Beta, byPath: map[string]*document{}}
	groups, plain := s.groups()
	legacy, others := splitLegacy(groups)
	_, plainOthers := splitLegacy(plain)
	paths := slices.Clone(s.Paths)
	for _, g := range plain {
		prefix := "/apis/" + g.name
		if g.name == "" {
			prefix = "/api"
		} else {
			d.byPath[prefix] = &document{plain: once(func() any { return describeGroup(g) }), anyMethod: true}
		}
		for _, v := range g.versions {
			if v.remote != nil || v.registered {
				paths = append(paths, prefix+"/"+v.Version)
				continue
			}
			d.byPath[prefix+"/"+v.Version] = &document{plain: once(func() any { return resourceList(v) }), anyMethod: v.custom, routed: !v.custom}
		}
	}
	d.byPath["/api"] = &document{
		plain:      func(r *http.Request) []byte { return encode(legacyVersions(legacy, localAddress(r))) },
		aggregated: onceAggregated(legacy, s.NullTimes),
		routed:     true,
	}
	d.byPath["/apis"] = &document{
		plain:      once(func() any { return groupList(plainOthers) }),
		aggregated: onceAggregated(others, s.NullTimes),
		anyMethod:  true,
	}
	d.root = sync.OnceValue(func() []byte {
		paths := slices.AppendSeq(append([]string{"/apis/"}, paths...), maps.Keys(d.byPath))
		slices.Sort(paths)
		return indent(encode(struct {
			Paths []string `json:"paths"`
		}{slices.Compact(paths)}))
	})
	return d
}

// splitLegacy returns the legacy group, if there is one, and the other ones.
func splitLegacy(groups []group) (legacy, others []group) {
	for _, g := range groups {
		if g.name == "" {
			legacy = append(legacy, g)
		} else {
			others = append(others, g)
		}
	}
	return legacy, others
}

// once renders a document that does not depend on the request.
func once(render func() any) func(*http.Request) []byte {
	encoded := sync.OnceValue(func() []byte { return encode(render()) })
	return func(*http.Request) []byte { return encoded() }
}

// localAddress returns the address at which the server received the request, ""
// without a connection.
func localAddress(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addr.String()
	}
	return ""
}

func onceAggregated(groups []group, nullTimes bool) func(version string) aggregated {
	once := func(version string) func() aggregated {
		return sync.OnceValue(func() aggregated {
			doc := aggregate(groups, nullTimes)
			sum := sha512.Sum512(encode(doc))
			doc.Kind, doc.APIVersion = "APIGroupDiscoveryList", "apidiscovery.k8s.io/"+version
			return aggregated{version: version, body: encode(doc), etag: fmt.Sprintf(`"%X"`, sum)}
		})
	}
	v2, beta := once("v2"), once(betaVersion)
	return func(version string) aggregated {
		if version == betaVersion {
			return beta()
		}
		return v2()
	}
}

// Serve responds with the document at a path, in the requested form and media
// type. It reports whether the document exists; a trailing slash is ignored.
// Nothing is written if it does not exist, or if err is not nil: then err is a
// *status.Status for a method that is not allowed or a media type that is not
// acceptable.
//
// JSON is indented for requests with the parameter pretty and for browsers,
// curl and wget. The caller sets Cache-Control, except for aggregated
// documents, which are public.
func (d *Documents) Serve(w http.ResponseWriter, r *http.Request, path string) (found bool, err error) {
	if path == "/" || path == "/index.html" {
		w.Header().Set("Content-Type", jsonType)
		write(w, d.root())
		return true, nil
	}
	doc := d.byPath[strings.TrimSuffix(path, "/")]
	if doc == nil {
		return false, nil
	}
	if !doc.anyMethod && r.Method != http.MethodGet {
		return true, status.MethodNotAllowed()
	}
	clauses := accept.Parse(r.Header.Get("Accept"))
	if r.Header.Get("Accept") == "" {
		clauses = []accept.Clause{{Type: "*", Subtype: "*"}}
	}
	if doc.routed && !d.routes(clauses) {
		return true, status.UnroutedAccept(d.mediaTypes())
	}
	if doc.aggregated != nil && path != "/apis/" { // the aggregator has no route there
		version := ""
		wanted := func(params map[string]string) bool {
			version = params["v"]
			return d.isAggregated(params)
		}
		if rep, ok := d.negotiate(clauses, wanted); ok {
			return true, serveAggregated(w, r, doc.aggregated(version), rep)
		}
	}
	rep, ok := d.negotiate(clauses, isPlain)
	if !ok {
		return true, status.NotAcceptable(d.mediaTypes())
	}
	body, err := rep.encode(r, doc.plain(r))
	if err != nil {
		return true, err
	}
	w.Header().Set("Content-Type", rep.mediaType)
	write(w, body)
	return true, nil
}

// routes reports whether a clause has one of the media types literally, or */*, with any
// parameters.
func (d *Documents) routes(clauses []accept.Clause) bool {
	return slices.ContainsFunc(clauses, func(c accept.Clause) bool {
		mediaType := c.Type + "/" + c.Subtype
		return mediaType == "*/*" || slices.Contains(d.mediaTypes(), mediaType)
	})
}

func serveAggregated(w http.ResponseWriter, r *http.Request, doc aggregated, rep representation) error {
	notModified := r.Header.Get("If-None-Match") == doc.etag
	var body []byte
	if !notModified {
		var err error
		if body, err = rep.encode(r, doc.body); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Etag", doc.etag)
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if notModified {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", rep.mediaType+fmt.Sprintf(aggregatedType, doc.version))
	write(w, body)
	return nil
}

func (d *Documents) mediaTypes() []string {
	types := []string{jsonType}
	for _, e := range d.encodings {
		types = append(types, e.MediaType)
	}
	return types
}

// A representation is the media type in which a document is written.
type representation struct {
	mediaType string
	convert   func(json []byte) ([]byte, error) // nil for JSON
	pretty    bool
}

// negotiate returns the representation of the first clause that names one and
// whose parameters wanted accepts.
func (d *Documents) negotiate(clauses []accept.Clause, wanted func(params map[string]string) bool) (representation, bool) {
	for _, c := range clauses {
		if !wanted(c.Params) {
			continue
		}
		pretty := c.Params["pretty"] == "1"
		if c.Matches(jsonType) {
			return representation{mediaType: jsonType, pretty: pretty}, true
		}
		for _, e := range d.encodings {
			if c.Matches(e.MediaType) {
				return representation{mediaType: e.MediaType, convert: e.Convert}, true
			}
		}
	}
	return representation{}, false
}

func (d *Documents) isAggregated(params map[string]string) bool {
	version := params["v"]
	return params["g"] == "apidiscovery.k8s.io" && (version == "v2" || d.beta && version == betaVersion) && params["as"] == "APIGroupDiscoveryList"
}

func isPlain(params map[string]string) bool {
	for key, value := range params {
		switch key {
		case "as", "g", "v", "sv":
			return false
		case "stream":
			if value != "watch" {
				return false
			}
		}
	}
	return true
}

// encode converts a JSON document to the representation. The error is a
// *status.Status.
func (rep representation) encode(r *http.Request, doc []byte) ([]byte, error) {
	switch {
	case rep.convert != nil:
		body, err := rep.convert(doc)
		if err != nil {
			return nil, status.Internal(err.Error())
		}
		return body, nil
	case rep.pretty || forHumans(r):
		return indent(doc), nil
	default:
		return append(doc[:len(doc):len(doc)], '\n'), nil
	}
}

// forHumans reports whether a request wants indented JSON.
func forHumans(r *http.Request) bool {
	if pretty := r.URL.Query().Get("pretty"); pretty != "" {
		yes, _ := strconv.ParseBool(pretty)
		return yes
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// write writes a body. It ignores the error: net/http handles closed
// connections.
func write(w http.ResponseWriter, body []byte) { _, _ = w.Write(body) }

// encode returns v as JSON on one line.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("discovery: " + err.Error()) // unreachable: strings and booleans always marshal
	}
	return b
}

// indent indents JSON as kube-apiserver does.
func indent(doc []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		panic("discovery: " + err.Error()) // unreachable: encode made the JSON
	}
	return b.Bytes()
}

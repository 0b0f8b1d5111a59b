package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/codec/accept"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// A zpage is a page about the process: its answer is plain text for a client that accepts
// any, and an object of the group config.k8s.io for one that asks for its kind.
type zpage struct {
	kind string
	// object returns the fields of the object beside its type and name, in their order.
	object func(s *Server) any
	// text returns what follows the heading of the text.
	text func(s *Server, delimiter string) string
}

const (
	flagzPath   = "/flagz"
	statuszPath = "/statusz"
)

var zpages = map[string]*zpage{
	flagzPath: {
		kind: "Flagz",
		object: func(s *Server) any {
			return struct {
				Flags map[string]string `json:"flags,omitempty"`
			}{s.config.Flags}
		},
		text: func(s *Server, delimiter string) string {
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(s.config.Flags)) {
				b.WriteString(name + delimiter + s.config.Flags[name] + "\n")
			}
			return b.String()
		},
	},
	statuszPath: {
		kind:   "Statusz",
		object: func(s *Server) any { return s.processStatus() },
		text:   func(s *Server, delimiter string) string { return s.processStatus().text(delimiter) },
	},
}

// servesZpage reports whether a release serves a page about the process at a path.
//
// Differs from kube-apiserver: debugging: releases before v1.36 do not serve /flagz and
// /statusz with the gates ComponentFlagz and ComponentStatusz. Request: GET /statusz.
func servesZpage(r *release.Release, path string) bool {
	switch path {
	case flagzPath:
		return r.Has(behavior.Zpages) && r.Enabled("ComponentFlagz")
	case statuszPath:
		return r.Has(behavior.Zpages) && r.Enabled("ComponentStatusz")
	}
	return false
}

// delimiters separate names from values in the text. kube-apiserver chooses one at random, so
// that nobody parses the text.
var delimiters = []string{":", ": ", "=", " "}

// serveZpage serves a page about the process.
func (r *request) serveZpage(p *zpage) error {
	version, asText, err := r.negotiateZpage(p.kind)
	if err != nil {
		return err
	}
	s := r.server
	if asText {
		delimiter := delimiters[int(s.random.Fraction()*float64(len(delimiters)))]
		r.write(http.StatusOK, "text/plain; charset=utf-8", fmt.Appendf(nil, "\napiserver %s\n"+
			"Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n%s",
			strings.ToLower(p.kind), p.text(s, delimiter)))
		return nil
	}
	if version == "v1alpha1" {
		r.w.Header().Set("Warning", fmt.Sprintf(`299 - "This version of the %s endpoint is deprecated. Please use a newer version."`, strings.ToLower(p.kind)))
	}
	fields, err := json.Marshal(p.object(s))
	if err != nil {
		return err
	}
	doc := fmt.Sprintf(`{"kind":%q,"apiVersion":"config.k8s.io/%s","metadata":{"name":"apiserver"},%s`, p.kind, version, fields[1:])
	r.write(http.StatusOK, fmt.Sprintf("%s;g=config.k8s.io;v=%s;as=%s", r.out.ContentType(), version, p.kind), r.out.Append(nil, []byte(doc+"\n"), nil))
	return nil
}

// negotiateZpage sets the form of the answer by the header Accept, and returns the version of
// the object that the client asks for.
func (r *request) negotiateZpage(kind string) (version string, asText bool, err error) {
	header := r.http.Header.Get("Accept")
	if strings.TrimSpace(header) == "" {
		return "", true, nil
	}
	offered := []string{codec.JSON.MediaType(), codec.YAML.MediaType(), "text/plain"}
	formats := []codec.Format{codec.JSON, codec.YAML, codec.JSON}
	if r.surface.Release().Enabled("CBORServingAndStorage") {
		offered, formats = append(offered, codec.CBOR.MediaType()), append(formats, codec.CBOR)
	}
	for _, clause := range accept.Parse(header) {
		p := clause.Params
		version := p["v"]
		if p["stream"] != "" || p["sv"] != "" {
			continue
		}
		recognized := p["g"] == "config.k8s.io" && p["as"] == kind && (version == "v1alpha1" || version == "v1beta1")
		for i, mediaType := range offered {
			if !clause.Matches(mediaType) {
				continue
			}
			if mediaType == "text/plain" {
				if cmp.Or(p["g"], p["as"], version) == "" {
					return "", true, nil
				}
				continue
			}
			if recognized {
				r.out = codec.Response{Format: formats[i], Pretty: formats[i] == codec.JSON && (p["pretty"] == "1" || codec.WantsPretty(r.http))}
				return version, false, nil
			}
		}
	}
	return "", false, &codec.NotAcceptableError{Offered: offered}
}

// A processStatus is what /statusz shows.
type processStatus struct {
	StartTime        string   `json:"startTime"`
	UptimeSeconds    int64    `json:"uptimeSeconds"`
	GoVersion        string   `json:"goVersion"`
	BinaryVersion    string   `json:"binaryVersion"`
	EmulationVersion string   `json:"emulationVersion,omitempty"`
	Paths            []string `json:"paths"`

	started time.Time
}

func (s *Server) processStatus() *processStatus {
	r := s.Release()
	var info struct{ GoVersion string }
	if err := json.Unmarshal(r.VersionInfo(), &info); err != nil {
		panic("server: the version of the release: " + err.Error()) // unreachable: it is embedded
	}
	return &processStatus{
		StartTime:        s.started.UTC().Format(time.RFC3339),
		UptimeSeconds:    max(0, int64(s.config.Clock.Now().Sub(s.started).Seconds())),
		GoVersion:        info.GoVersion,
		BinaryVersion:    strings.TrimPrefix(r.Version(), "v"),
		EmulationVersion: fmt.Sprintf("1.%d", r.Minor()),
		Paths:            debuggingPaths(rootPaths(r)),
		started:          s.started,
	}
}

// notForDebugging are folders of paths that /statusz does not list.
var notForDebugging = []string{"apis", "api", "openid", "openapi", ".well-known"}

// debuggingPaths returns the first folders of paths that are for debugging, sorted.
func debuggingPaths(paths []string) []string {
	var out []string
	for _, path := range paths {
		folder, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if folder != "" && !slices.Contains(notForDebugging, folder) {
			out = append(out, "/"+folder)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *processStatus) text(delimiter string) string {
	d := html.EscapeString(delimiter)
	var b strings.Builder
	for _, row := range [][2]string{
		{"\nStarted", p.started.Format(time.UnixDate)},
		{"Up", fmt.Sprintf("%d hr %02d min %02d sec", p.UptimeSeconds/3600, p.UptimeSeconds/60%60, p.UptimeSeconds%60)},
		{"Go version", p.GoVersion},
		{"Binary version", p.BinaryVersion},
		{"Emulation version", p.EmulationVersion},
		{"Paths", strings.Join(p.Paths, " ")},
	} {
		b.WriteString(row[0] + d + " " + html.EscapeString(row[1]) + "\n")
	}
	return b.String()
}

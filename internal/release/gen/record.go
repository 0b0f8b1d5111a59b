package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefake/kubefake/internal/release/controlplane"
	"github.com/kubefake/kubefake/internal/release/descriptions"
	"github.com/kubefake/kubefake/internal/route"
)

// A recording is a folder of recordings, named by the release and the variant
// of the server's flags: v1.36.3, v1.36.3-all, v1.36.3-gates. Its files are
//
//	version.json     the body of GET /version
//	discovery.json   {"api": ..., "apis": ...}: the aggregated discovery documents
//	stored.json      the versions that resources are stored in, where they are not
//	                 the served ones: "group/version/resource" to "group/version"
//	openapi.json     the OpenAPI v3 index: path to the published hash and the name
//	                 of the document in openapi.zip
//	openapi-v2.json  the entity tag of the OpenAPI v2 document, and the group
//	                 versions that it lists for DeleteOptions
//	bootstrap.json   the objects of a fresh cluster by resource
//	columns.json     the table columns by kind
//	gates.txt        the feature gates, from the source of the release
//	types.txt        the Go types of the API, and
//	unversioned.txt  those of the internal version, which no server records
//
// of which a variant has those that it is recorded for.
type recording struct {
	name      string
	files     map[string][]byte
	documents map[string][]byte // OpenAPI v3 by hash
}

// recordingName returns the name of the recording of a variant of a release.
func recordingName(version, variant string) string {
	if variant == "" {
		return version
	}
	return version + "-" + variant
}

// A documentEntry is an entry of openapi.json. The hash is that of the document
// with its descriptions, as the server publishes it.
type documentEntry struct {
	Hash     string `json:"hash"`
	Document string `json:"document"`
}

// documentV2 is the content of openapi-v2.json.
type documentV2 struct {
	ETag          string   `json:"etag"`
	GroupVersions []string `json:"groupVersions"`
}

// A server is a running kube-apiserver.
type server struct {
	client     *http.Client
	url, token string
}

// record records the parts of a variant. A release without a variant gates has the columns of the
// variant all.
func (s *server) record(variant string) (*recording, error) {
	body, err := s.get("/version", "application/json")
	if err != nil {
		return nil, err
	}
	// A kube-apiserver that is built without release flags has this placeholder.
	body = bytes.Replace(body, []byte("$Format:%H$"), bytes.Repeat([]byte("0"), 40), 1)
	var version struct{ GitVersion string }
	if err := json.Unmarshal(body, &version); err != nil {
		return nil, err
	}
	rec := &recording{name: recordingName(version.GitVersion, variant), files: map[string][]byte{"version.json": body}, documents: map[string][]byte{}}
	parts := map[string][]func(*recording) error{
		"":      {s.recordSurface, recordGates},
		"all":   {s.recordSurface, s.recordBootstrap},
		"gates": {s.recordDiscovery, s.recordOpenAPI, s.recordColumns},
	}
	if !slices.ContainsFunc(controlplane.Variants(version.GitVersion), func(v controlplane.Variant) bool { return v.Name == "gates" }) {
		parts["all"] = append(parts["all"], s.recordColumns)
		delete(parts, "gates")
	}
	if parts[variant] == nil {
		return nil, fmt.Errorf("%s has no variant %q", version.GitVersion, variant)
	}
	for _, part := range parts[variant] {
		if err := part(rec); err != nil {
			return nil, err
		}
	}
	return rec, nil
}

// recordGates adds the feature gates.
func recordGates(rec *recording) (err error) {
	rec.files[gatesFile], err = sourceGates(rec.name)
	return err
}

// get returns the body of a 200 answer.
func (s *server) get(path, accept string) ([]byte, error) {
	return s.do(http.MethodGet, path, accept, nil, http.StatusOK)
}

func (s *server) do(method, path, accept string, body any, want int) ([]byte, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequest(method, s.url+path, &sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = errors.New(resp.Status + ": " + string(answer))
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer, nil
}

// getJSON decodes the body of a 200 answer.
func (s *server) getJSON(path, accept string, into any) error {
	body, err := s.get(path, accept)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// recordSurface records discovery.json, stored.json, openapi.json,
// openapi-v2.json and the OpenAPI v3 documents.
func (s *server) recordSurface(rec *recording) error {
	for _, part := range []func(*recording) error{s.recordDiscovery, s.recordOpenAPI, s.recordOpenAPIV2} {
		if err := part(rec); err != nil {
			return err
		}
	}
	return nil
}

// recordDiscovery records discovery.json and stored.json.
func (s *server) recordDiscovery(rec *recording) error {
	var docs struct {
		API  json.RawMessage `json:"api"`
		APIs json.RawMessage `json:"apis"`
	}
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	if err := s.getJSON("/api", aggregated, &docs.API); err != nil {
		return err
	}
	if err := s.getJSON("/apis", aggregated, &docs.APIs); err != nil {
		return err
	}
	text, err := json.Marshal(docs)
	if err != nil {
		return err
	}
	rec.files["discovery.json"] = text
	surface, err := readDiscovery(text, nil)
	if err != nil {
		return err
	}
	stored := map[string]string{}
	var served []string
	for _, gv := range surface.GroupVersions {
		served = append(served, gv.String())
	}
	for _, gv := range served {
		if err := s.addStored(stored, gv, served); err != nil {
			return err
		}
	}
	rec.files["stored.json"], err = indented(stored)
	return err
}

// addStored adds the resources of a group version that are stored in another
// one. Discovery has a hash of the version they are stored in: one of those that
// are served, or an older version of the group.
func (s *server) addStored(stored map[string]string, gv string, served []string) error {
	var list struct {
		Resources []struct{ Name, Kind, StorageVersionHash string }
	}
	if err := s.getJSON(route.VersionPath(gv), "application/json", &list); err != nil {
		return err
	}
	candidates := served
	if group, _, ok := strings.Cut(gv, "/"); ok {
		for _, version := range []string{"v1alpha1", "v1alpha2", "v1alpha3", "v1beta1", "v1beta2", "v1beta3"} {
			candidates = append(candidates[:len(candidates):len(candidates)], group+"/"+version)
		}
	}
next:
	for _, r := range list.Resources {
		if r.StorageVersionHash == "" || r.StorageVersionHash == storageVersionHash(gv, r.Kind) {
			continue
		}
		for _, candidate := range candidates {
			if r.StorageVersionHash == storageVersionHash(candidate, r.Kind) {
				stored[gv+"/"+r.Name] = candidate
				continue next
			}
		}
		return fmt.Errorf("%s %s: unknown storage version %s", gv, r.Name, r.StorageVersionHash)
	}
	return nil
}

// storageVersionHash is the hash that kube-apiserver publishes in discovery for
// a kind that it stores in a group version.
func storageVersionHash(groupVersion, kind string) string {
	if !strings.Contains(groupVersion, "/") {
		groupVersion = "/" + groupVersion
	}
	sum := sha256.Sum256([]byte(groupVersion + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// recordOpenAPI records openapi.json and the documents that it lists.
func (s *server) recordOpenAPI(rec *recording) error {
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := s.getJSON("/openapi/v3", "application/json", &index); err != nil {
		return err
	}
	entries := map[string]documentEntry{}
	for path, entry := range index.Paths {
		published, err := url.Parse(entry.ServerRelativeURL)
		if err != nil {
			return err
		}
		document, err := s.get(entry.ServerRelativeURL, "application/json")
		if err != nil {
			return err
		}
		bare, _, err := descriptions.Cut(document)
		if err != nil {
			return fmt.Errorf("OpenAPI document %s: %w", path, err)
		}
		hash := published.Query().Get("hash")
		rec.documents[hash] = document
		entries[path] = documentEntry{Hash: hash, Document: documentID(bare)}
	}
	var err error
	rec.files["openapi.json"], err = indented(entries)
	return err
}

// recordOpenAPIV2 records openapi-v2.json.
func (s *server) recordOpenAPIV2(rec *recording) error {
	body, err := s.get("/openapi/v2", "application/json")
	if err != nil {
		return err
	}
	var document struct {
		Definitions map[string]struct {
			Kinds []struct{ Group, Version string } `json:"x-kubernetes-group-version-kind"`
		}
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("GET /openapi/v2: %w", err)
	}
	v2 := documentV2{ETag: documentHash(body)}
	for _, kind := range document.Definitions["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"].Kinds {
		v2.GroupVersions = append(v2.GroupVersions, schema.GroupVersion{Group: kind.Group, Version: kind.Version}.String())
	}
	rec.files["openapi-v2.json"], err = indented(v2)
	return err
}

// recordBootstrap records bootstrap.json.
func (s *server) recordBootstrap(rec *recording) error {
	objects := map[string][]json.RawMessage{}
	for _, source := range bootstrapSources {
		var list struct{ Items []json.RawMessage }
		gv := source.groupVersion.String()
		served, err := s.serves(gv, source.resource)
		if err != nil {
			return err
		}
		if !served {
			continue
		}
		if err := s.getJSON(route.VersionPath(gv)+"/"+source.resource, "application/json", &list); err != nil {
			return err
		}
		objects[gv+"/"+source.resource] = list.Items
	}
	text, err := linePerItem(objects)
	if err != nil {
		return err
	}
	address, err := url.Parse(s.url)
	if err != nil {
		return err
	}
	rec.files["bootstrap.json"] = withoutChance(text, address.Port())
	return nil
}

// chance matches what differs from server to server in bootstrap.json, beside its port.
var chance = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`"uid":"[0-9a-f-]{36}"`), `"uid":"00000000-0000-0000-0000-000000000000"`},
	{regexp.MustCompile(`"resourceVersion":"\d+"`), `"resourceVersion":"1"`},
	{times, "2026-01-01T00:00:00Z"},
	{dates, `"2026-01-01"`},
	{regexp.MustCompile(`"manager":"kube-apiserver-[0-9.]+"`), `"manager":"kube-apiserver"`}, // the name of the executable
}

// withoutChance returns bootstrap.json with the same values for all servers, which listens on port.
func withoutChance(text []byte, port string) []byte {
	for _, c := range chance {
		text = c.pattern.ReplaceAllLiteral(text, []byte(c.by))
	}
	ports := regexp.MustCompile(`("port"|"targetPort"):` + port + `\b`)
	return ports.ReplaceAll(text, []byte("$1:6443"))
}

// serves reports whether the server serves a resource of a group version.
func (s *server) serves(gv, name string) (bool, error) {
	var list struct{ Resources []struct{ Name string } }
	if err := s.getJSON(route.VersionPath(gv), "application/json", &list); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Resources, func(r struct{ Name string }) bool { return r.Name == name }), nil
}

// recordColumns records columns.json.
func (s *server) recordColumns(rec *recording) error {
	columns := map[string][]json.RawMessage{}
	err := s.addListColumns(columns)
	if err == nil {
		err = s.addScaleColumns(columns)
	}
	if err == nil {
		rec.files["columns.json"], err = linePerItem(columns)
	}
	return err
}

// addListColumns adds the columns of the kinds that can be listed. kube-apiserver
// sends columns for an empty list too.
func (s *server) addListColumns(columns map[string][]json.RawMessage) error {
	var docs struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	if err := s.getJSON("/apis", "application/json", &docs); err != nil {
		return err
	}
	gvs := []string{"v1"}
	for _, group := range docs.Groups {
		for _, version := range group.Versions {
			gvs = append(gvs, version.GroupVersion)
		}
	}
	for _, gv := range gvs {
		var list struct {
			Resources []struct {
				Name, Kind string
				Verbs      []string
			}
		}
		if err := s.getJSON(route.VersionPath(gv), "application/json", &list); err != nil {
			return err
		}
		group, _, grouped := strings.Cut(gv, "/")
		for _, r := range list.Resources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			kind := r.Kind
			if grouped {
				kind = group + "/" + kind
			}
			if err := s.addColumns(columns, kind, route.VersionPath(gv)+"/"+r.Name+"?limit=1"); err != nil {
				return err
			}
		}
	}
	return nil
}

// addColumns adds the columns of the table at a path.
func (s *server) addColumns(columns map[string][]json.RawMessage, kind, path string) error {
	var table struct{ ColumnDefinitions []json.RawMessage }
	if err := s.getJSON(path, "application/json;as=Table;v=v1;g=meta.k8s.io", &table); err != nil {
		return err
	}
	if len(table.ColumnDefinitions) == 0 {
		return fmt.Errorf("%s: no table columns", path)
	}
	if have, ok := columns[kind]; ok && fmt.Sprint(have) != fmt.Sprint(table.ColumnDefinitions) {
		return fmt.Errorf("%s: the columns of %s depend on the version", path, kind)
	}
	columns[kind] = table.ColumnDefinitions
	return nil
}

// addScaleColumns adds the columns of Scale, which has no list: it creates an
// object with a scale subresource and deletes it again.
func (s *server) addScaleColumns(columns map[string][]json.RawMessage) error {
	type object = map[string]any
	const controllers = "/api/v1/namespaces/default/replicationcontrollers"
	labels := object{"app": "columns"}
	_, err := s.do(http.MethodPost, controllers, "application/json", object{
		"metadata": object{"name": "columns"},
		"spec": object{"selector": labels, "template": object{
			"metadata": object{"labels": labels},
			"spec":     object{"containers": []any{object{"name": "c", "image": "i"}}},
		}},
	}, http.StatusCreated)
	if err != nil {
		return err
	}
	err = s.addColumns(columns, "autoscaling/Scale", controllers+"/columns/scale")
	_, deleteErr := s.do(http.MethodDelete, controllers+"/columns", "application/json", nil, http.StatusOK)
	return errors.Join(err, deleteErr)
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A bootstrapSource is a resource whose objects kube-apiserver creates as it
// starts.
type bootstrapSource struct {
	groupVersion resource.GroupVersion
	resource     string
	// unique objects have a UID and other values that differ from cluster to
	// cluster. Objects of other resources differ only in their times, and get
	// UIDs that are hashes of their keys.
	unique bool
}

// bootstrapSources are all resources of a fresh cluster that have objects,
// except Leases, which kube-apiserver renews all the time.
var bootstrapSources = []bootstrapSource{
	{v1(""), "namespaces", true},
	{v1(""), "services", true},
	{v1(""), "endpoints", true},
	{v1(""), "configmaps", true},
	{v1("discovery.k8s.io"), "endpointslices", true},
	{v1("networking.k8s.io"), "ipaddresses", true},
	{v1("networking.k8s.io"), "servicecidrs", true},
	{v1("scheduling.k8s.io"), "priorityclasses", false},
	{v1("flowcontrol.apiserver.k8s.io"), "flowschemas", false},
	{v1("flowcontrol.apiserver.k8s.io"), "prioritylevelconfigurations", false},
	{v1("apiregistration.k8s.io"), "apiservices", false},
	{v1("rbac.authorization.k8s.io"), "clusterroles", false},
	{v1("rbac.authorization.k8s.io"), "clusterrolebindings", false},
	{v1("rbac.authorization.k8s.io"), "roles", false},
	{v1("rbac.authorization.k8s.io"), "rolebindings", false},
}

func v1(group string) resource.GroupVersion {
	return resource.GroupVersion{Group: group, Version: "v1"}
}

// bootstrapText returns the file bootstrap.txt.
func bootstrapText(recordings fs.FS) ([]byte, error) {
	const name = release.Default + "-all"
	dir, err := fs.Sub(recordings, name)
	if err != nil {
		return nil, err
	}
	served, err := readSurface(dir)
	if err != nil {
		return nil, err
	}
	var recorded map[string][]json.RawMessage
	if err := readJSON(dir, "bootstrap.json", &recorded); err != nil {
		return nil, err
	}
	variables, err := bootstrapVariables(recorded)
	if err != nil {
		return nil, err
	}
	types := resource.NewTypes(kinds.Newest(served.Types))
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("a recording of kube-apiserver "+name))
	for _, source := range bootstrapSources {
		gv := source.groupVersion
		t := types.Lookup(gv.Group, gv.Version, source.resource)
		lines, err := bootstrapLines(t, recorded[gv.String()+"/"+source.resource], source.unique, variables)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			out.WriteString(line)
		}
	}
	return out.Bytes(), nil
}

// bootstrapVariables returns a replacer that writes variables for the values of
// the recorded cluster.
func bootstrapVariables(recorded map[string][]json.RawMessage) (*strings.Replacer, error) {
	var service struct {
		Spec struct {
			ClusterIP  string
			IPFamilies []string
			Ports      []struct{ TargetPort int }
		}
	}
	var endpoints struct {
		Subsets []struct{ Addresses []struct{ IP string } }
	}
	var ranges struct {
		Spec struct{ CIDRs json.RawMessage }
	}
	for resource, into := range map[string]any{
		"v1/services":                       &service,
		"v1/endpoints":                      &endpoints,
		"networking.k8s.io/v1/servicecidrs": &ranges,
	} {
		if len(recorded[resource]) != 1 {
			return nil, fmt.Errorf("bootstrap.json has %d %s, not one", len(recorded[resource]), resource)
		}
		if err := json.Unmarshal(recorded[resource][0], into); err != nil {
			return nil, err
		}
	}
	if len(service.Spec.Ports) != 1 || len(service.Spec.IPFamilies) != 1 || len(endpoints.Subsets) != 1 || len(endpoints.Subsets[0].Addresses) != 1 {
		return nil, errors.New("bootstrap.json: the Service kubernetes has not one port, IP family and endpoint")
	}
	return strings.NewReplacer(
		string(ranges.Spec.CIDRs), "${ranges}",
		service.Spec.ClusterIP, "${ip}",
		service.Spec.IPFamilies[0], "${family}",
		fmt.Sprint(service.Spec.Ports[0].TargetPort), "${port}",
		endpoints.Subsets[0].Addresses[0].IP, "${endpoint}",
	), nil
}

var (
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	dates = regexp.MustCompile(`"\d{4}-\d\d-\d\d"`)
)

// bootstrapLines returns a line for each object, sorted by key.
func bootstrapLines(t *resource.Type, items []json.RawMessage, unique bool, variables *strings.Replacer) ([]string, error) {
	lines := map[string]string{} // by key
	for _, item := range items {
		obj, _, err := t.Codec.Decode(item, true)
		if err != nil {
			return nil, err
		}
		obj["kind"], obj["apiVersion"] = t.Kind, t.GroupVersion.String()
		meta := object.Meta(obj)
		key := t.Key(object.String(meta, "namespace"), object.String(meta, "name"))
		meta["uid"] = "${uid}"
		if !unique {
			meta["uid"] = hashUID(key)
		}
		line := bootstrapLine(t, storage.New(t, obj))
		if strings.Count(line, "$") != strings.Count(line, "${uid}") {
			return nil, fmt.Errorf("%s contains a $, which begins a variable", key)
		}
		line = times.ReplaceAllLiteralString(line, "${time}")
		if unique {
			line = dates.ReplaceAllLiteralString(variables.Replace(line), `"${date}"`)
		}
		lines[key] = line
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, lines[key])
	}
	return out, nil
}

// bootstrapLine returns the line of an object. Its JSON ends in a newline.
func bootstrapLine(t *resource.Type, o *storage.Object) string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		labels = append(labels, key+"="+o.Labels[key])
	}
	return fmt.Sprintf("%s/%s %s %s %s %s", t.GroupVersion, t.Name, name, column(labels), column(o.Fields), o.JSON())
}

// column joins the values of a column.
func column(values []string) string {
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, ",")
}

// hashUID returns a UID of version 4 that is a hash of the key.
func hashUID(key string) string {
	b := sha256.Sum256([]byte(key))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

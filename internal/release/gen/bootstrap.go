package main

import (
	"bytes"
	"cmp"
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
	"github.com/kubefake/kubefake/internal/release/modules"
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

// bootstrapText returns the file bootstrap.txt. A line begins with the minor numbers of
// the first and the last release that create the object so; the last is left out for the
// newest release.
func bootstrapText(recordings fs.FS) ([]byte, error) {
	const newest = release.Newest + "-all"
	served, err := readSurface(recordings, newest)
	if err != nil {
		return nil, err
	}
	names, err := olderReleases(recordings)
	if err != nil {
		return nil, err
	}
	types := resource.NewTypes(kinds.Newest(served.Types))
	spans := map[string][]lineSpan{} // by resource and key
	order := map[string]int{}        // of the resources
	for _, name := range append(names, release.Newest) {
		var recorded map[string][]json.RawMessage
		if err := readJSON(recordings, name+"-all/bootstrap.json", &recorded); err != nil {
			return nil, err
		}
		variables, err := bootstrapVariables(recorded)
		if err != nil {
			return nil, err
		}
		for i, source := range bootstrapSources {
			gv := source.groupVersion
			t := types.Lookup(gv.Group, gv.Version, source.resource)
			lines, err := bootstrapLines(t, recorded[gv.String()+"/"+source.resource], source.unique, variables)
			if err != nil {
				return nil, err
			}
			for key, line := range lines {
				order[key] = i
				spans[key] = addLine(spans[key], modules.Minor(name), line)
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("recordings of kube-apiserver "+newest+" and older"))
	keys := slices.SortedFunc(maps.Keys(spans), func(a, b string) int { return cmp.Or(order[a]-order[b], strings.Compare(a, b)) })
	for _, key := range keys {
		for _, s := range spans[key] {
			last := ""
			if s.last < modules.Minor(newest) {
				last = fmt.Sprint(s.last)
			}
			fmt.Fprintf(&out, "%d-%s %s", s.first, last, s.line)
		}
	}
	return out.Bytes(), nil
}

// A lineSpan is the line of an object in consecutive releases, by their minor numbers.
type lineSpan struct {
	first, last int
	line        string
}

// addLine adds the line of a release that is newer than those of the spans.
func addLine(spans []lineSpan, minor int, line string) []lineSpan {
	if n := len(spans) - 1; n >= 0 && spans[n].line == line && spans[n].last == minor-1 {
		spans[n].last = minor
		return spans
	}
	return append(spans, lineSpan{minor, minor, line})
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
		if resource == "networking.k8s.io/v1/servicecidrs" && len(recorded[resource]) == 0 {
			ranges.Spec.CIDRs = json.RawMessage("no ranges") // the release does not serve the version
			continue
		}
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

// bootstrapLines returns a line for each object, by key.
func bootstrapLines(t *resource.Type, items []json.RawMessage, unique bool, variables *strings.Replacer) (map[string]string, error) {
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
			meta["uid"] = release.BootstrapUID(key)
		}
		line := bootstrapLine(t, storage.New(t, obj, nil))
		if strings.Count(line, "$") != strings.Count(line, "${uid}") {
			return nil, fmt.Errorf("%s contains a $, which begins a variable", key)
		}
		line = times.ReplaceAllLiteralString(line, "${time}")
		if unique {
			line = dates.ReplaceAllLiteralString(variables.Replace(line), `"${date}"`)
		}
		lines[key] = line
	}
	return lines, nil
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
	var fields []string
	for i := range t.SelectableFields {
		fields = append(fields, o.Fields.At(i))
	}
	return fmt.Sprintf("%s/%s %s %s %s %s", t.GroupVersion, t.Name, name, column(labels), column(fields), o.JSON())
}

// column joins the values of a column.
func column(values []string) string {
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, ",")
}

// Package bootstrap holds the objects of a fresh cluster: those that a
// kube-apiserver makes as it starts.
package bootstrap

import (
	_ "embed"
	"encoding/json"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// The objects, a line each after the first: the resource, the name, the labels
// and the selectable fields, and the JSON as a server stores it, so that a start
// decodes and encodes nothing. Where servers differ there are names of Values.
//
//go:generate go run ./gen -server $KUBE_APISERVER -token $KUBE_TOKEN -version v1.36.3 -out objects.txt
//go:embed objects.txt
var text string

// An Object is one of a fresh cluster as it lies in the store, but for its
// resourceVersion.
type Object struct {
	resource.GroupVersion
	Resource        string
	Namespace, Name string
	Labels          map[string]string
	Fields          []string // the values of the type's selectable fields
	JSON            string
}

// Objects are the objects of all API versions, with names where values are to
// be.
//
// Differs from kube-apiserver: a fresh cluster has the objects of v1.36, whatever
// the release, and not the Lease by which a kube-apiserver tells that it is alive.
func Objects() iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for line := range strings.Lines(text[strings.IndexByte(text, '\n')+1:]) {
			if !yield(parse(line)) {
				return
			}
		}
	}
}

func parse(line string) Object {
	column := func() (value string) {
		value, line, _ = strings.Cut(line, " ")
		return strings.TrimPrefix(value, "-")
	}
	var o Object
	o.GroupVersion, o.Resource = parseResource(column())
	namespace, name, namespaced := strings.Cut(column(), "/")
	if !namespaced {
		namespace, name = "", namespace
	}
	o.Namespace, o.Name = namespace, name
	if labels := column(); labels != "" {
		o.Labels = map[string]string{}
		for label := range strings.SplitSeq(labels, ",") {
			key, value, _ := strings.Cut(label, "=")
			o.Labels[key] = value
		}
	}
	if fields := column(); fields != "" {
		o.Fields = strings.Split(fields, ",")
	}
	o.JSON = line
	return o
}

// parseResource reads "v1/pods" or "apps/v1/deployments".
func parseResource(s string) (resource.GroupVersion, string) {
	gv, name, _ := strings.Cut(s, "/")
	if version, rest, grouped := strings.Cut(name, "/"); grouped {
		return resource.GroupVersion{Group: gv, Version: version}, rest
	}
	return resource.GroupVersion{Version: gv}, name
}

// Own reports whether the object is each server's own, with a UID that no other
// has. The others are alike but for their times.
func (o *Object) Own() bool { return strings.Contains(o.JSON, "${uid}") }

// Values are what differs from server to server.
type Values struct {
	Now    string         // as metadata has it
	UID    func() string  // makes one
	Ranges []netip.Prefix // of cluster IPs, the default one first
	Port   int            // where the server is reached
}

// With is the object with values in the place of their names. Of an object that
// is not the server's own, Now alone is asked for.
func (o Object) With(v *Values) Object {
	o.JSON = v.fill(o.JSON)
	o.Name = v.fill(o.Name)
	o.Labels, o.Fields = maps.Clone(o.Labels), slices.Clone(o.Fields)
	for key, label := range o.Labels {
		o.Labels[key] = v.fill(label)
	}
	for i, field := range o.Fields {
		o.Fields[i] = v.fill(field)
	}
	return o
}

func (v *Values) fill(s string) string {
	before, rest, found := strings.Cut(s, "${")
	if !found {
		return s
	}
	out := make([]byte, 0, len(s)+64)
	for found {
		var name string
		name, rest, _ = strings.Cut(rest, "}")
		out = append(append(out, before...), v.value(name)...)
		before, rest, found = strings.Cut(rest, "${")
	}
	return string(append(out, before...))
}

// value is the value of a name.
func (v *Values) value(name string) string {
	switch name {
	case "uid":
		return v.UID()
	case "time":
		return v.Now
	case "date":
		return v.Now[:len(time.DateOnly)]
	case "port":
		return strconv.Itoa(v.Port)
	case "ip":
		return v.first().Next().String()
	case "family":
		if v.first().Is6() {
			return "IPv6"
		}
		return "IPv4"
	case "endpoint":
		if v.first().Is6() {
			return "2001:db8::1"
		}
		return "192.0.2.1"
	case "ranges":
		return v.ranges()
	}
	panic("bootstrap: no value is named " + name) // unreachable: a test fills in all objects
}

// first is the network's address of the default range.
func (v *Values) first() netip.Addr { return v.Ranges[0].Masked().Addr() }

// ranges is a JSON list of the ranges.
func (v *Values) ranges() string {
	quoted := make([]string, len(v.Ranges))
	for i, r := range v.Ranges {
		quoted[i] = strconv.Quote(r.Masked().String())
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// flowSpecs are the specifications of flow schemas and priority levels, by
// resource and name.
var flowSpecs = sync.OnceValue(func() map[string]map[string]any {
	out := map[string]map[string]any{}
	for o := range Objects() {
		if o.Group != "flowcontrol.apiserver.k8s.io" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(o.JSON))
		decoder.UseNumber()
		var obj map[string]any
		if err := decoder.Decode(&obj); err != nil {
			panic("bootstrap: objects.txt: " + err.Error()) // unreachable: a test reads it all
		}
		out[o.Resource+"/"+o.Name] = object.Map(object.Integers(obj), "spec")
	}
	return out
})

// FlowSpec is the specification of the flow schema or priority level of that
// name, nil if there is none. It is shared, and must not be changed.
func FlowSpec(resource, name string) map[string]any { return flowSpecs()[resource+"/"+name] }

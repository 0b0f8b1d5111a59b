package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/resource"
)

// A BootstrapObject is an object that kube-apiserver creates as it starts. Its
// name, labels, fields and JSON have variables for what differs from cluster to
// cluster; Expand replaces them.
type BootstrapObject struct {
	resource.GroupVersion
	Resource        string
	Namespace, Name string
	Labels          map[string]string
	Fields          []string // the values of the type's selectable fields
	JSON            string   // the stored form, without resourceVersion
}

// BootstrapObjects yields the objects of a fresh cluster of the release, of all API
// versions whether the release serves them or not, with the roles of feature gates that are
// off by default.
//
// Differs from kube-apiserver: objects of a fresh cluster: they are without the Lease by
// which a kube-apiserver reports that it is alive. Request: GET
// /apis/coordination.k8s.io/v1/leases.
func (r *Release) BootstrapObjects() iter.Seq[BootstrapObject] {
	return r.withGatedRoles(bootstrapObjects(r.Minor()))
}

// bootstrapObjects yields those of a release, by its minor number.
func bootstrapObjects(minor int) iter.Seq[BootstrapObject] {
	return func(yield func(BootstrapObject) bool) {
		_, lines, _ := strings.Cut(data.Bootstrap(), "\n")
		for lines != "" {
			end := strings.IndexByte(lines, '\n') + 1
			span, line, _ := strings.Cut(lines[:end], " ")
			if inSpan(span, minor) && !yield(parseBootstrapObject(line)) {
				return
			}
			lines = lines[end:]
		}
	}
}

// inSpan reports whether a minor number is in a span such as "32-34" or "33-", which has
// no end.
func inSpan(span string, minor int) bool {
	first, last, _ := strings.Cut(span, "-")
	from, _ := strconv.Atoi(first)
	to, err := strconv.Atoi(last)
	return minor >= from && (err != nil || minor <= to)
}

// parseBootstrapObject reads the rest of a line of bootstrap.txt, ended by a newline,
// which is the end of its JSON.
func parseBootstrapObject(line string) BootstrapObject {
	column := func() (value string) {
		value, line, _ = strings.Cut(line, " ")
		return strings.TrimPrefix(value, "-")
	}
	var o BootstrapObject
	o.GroupVersion, o.Resource = parseResource(column())
	namespace, name, namespaced := strings.Cut(column(), "/")
	if !namespaced {
		namespace, name = "", namespace
	}
	o.Namespace, o.Name = namespace, name
	if labels := column(); labels != "" {
		o.Labels = map[string]string{}
		for more := true; more; {
			var label string
			label, labels, more = strings.Cut(labels, ",")
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

// BootstrapUID returns the UID of the bootstrap object with a key that all clusters have
// alike: a UID of version 4 that is a hash of the key.
func BootstrapUID(key string) string {
	b := sha256.Sum256([]byte(key))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Unique reports whether each cluster has the object with a UID of its own. The
// other objects differ only in their times, and uses of their variables need
// only BootstrapValues.Now.
func (o *BootstrapObject) Unique() bool { return strings.Contains(o.JSON, "${uid}") }

// BootstrapValues are the values of the variables in bootstrap objects.
type BootstrapValues struct {
	Now    string         // the time as in metadata
	UID    func() string  // returns a new UID
	Ranges []netip.Prefix // of cluster IPs, the default one first
	Port   int            // of the API server

	// Address is that of the API server, if it is valid and not a loopback address.
	Address netip.Addr
}

// Expand returns a copy of the object in which values replace the variables, except in its
// JSON. Labels and fields without variables are shared with the object.
func (o BootstrapObject) Expand(v *BootstrapValues) BootstrapObject {
	o.Name = v.expand(o.Name)
	cloned := false
	for key, label := range o.Labels {
		if expanded := v.expand(label); expanded != label {
			if !cloned {
				o.Labels, cloned = maps.Clone(o.Labels), true
			}
			o.Labels[key] = expanded
		}
	}
	if slices.ContainsFunc(o.Fields, hasVariable) {
		o.Fields = slices.Clone(o.Fields)
		for i, field := range o.Fields {
			o.Fields[i] = v.expand(field)
		}
	}
	return o
}

// AppendJSON appends the JSON of the object to a slice, with values in place of the
// variables.
func (o *BootstrapObject) AppendJSON(out []byte, v *BootstrapValues) []byte {
	return v.append(out, o.JSON)
}

func hasVariable(s string) bool { return strings.Contains(s, "${") }

func (v *BootstrapValues) expand(s string) string {
	if !hasVariable(s) {
		return s
	}
	return string(v.append(nil, s))
}

func (v *BootstrapValues) append(out []byte, s string) []byte {
	before, rest, found := strings.Cut(s, "${")
	for found {
		var name string
		name, rest, _ = strings.Cut(rest, "}")
		out = append(append(out, before...), v.value(name)...)
		before, rest, found = strings.Cut(rest, "${")
	}
	return append(out, before...)
}

// value returns the value of a variable.
func (v *BootstrapValues) value(name string) string {
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
		return v.networkAddress().Next().String()
	case "family":
		if v.networkAddress().Is6() {
			return "IPv6"
		}
		return "IPv4"
	case "endpoint":
		if v.Address.IsValid() && !v.Address.IsLoopback() {
			return v.Address.String()
		}
		if v.networkAddress().Is6() {
			return "2001:db8::1"
		}
		return "192.0.2.1"
	case "ranges":
		return v.rangesJSON()
	}
	panic("release: bootstrap.txt: unknown variable " + name) // unreachable: a test expands all objects
}

// networkAddress returns the first address of the default range.
func (v *BootstrapValues) networkAddress() netip.Addr { return v.Ranges[0].Masked().Addr() }

// rangesJSON returns the ranges as a JSON list.
func (v *BootstrapValues) rangesJSON() string {
	quoted := make([]string, len(v.Ranges))
	for i, r := range v.Ranges {
		quoted[i] = strconv.Quote(r.Masked().String())
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// flowSpecs returns the specs of the flow schemas and priority levels by
// resource and name.
var flowSpecs = sync.OnceValue(func() map[string]map[string]any {
	out := map[string]map[string]any{}
	for o := range bootstrapObjects(minorNumber(Newest)) {
		if o.Group != "flowcontrol.apiserver.k8s.io" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(o.JSON))
		decoder.UseNumber()
		var obj map[string]any
		if err := decoder.Decode(&obj); err != nil {
			panic("release: bootstrap.txt: " + err.Error()) // unreachable: a test reads all objects
		}
		out[o.Resource+"/"+o.Name] = object.Map(object.Integers(obj), "spec")
	}
	return out
})

// FlowSpec returns the spec that kube-apiserver gives the flow schema or
// priority level of that name as it starts, or nil if it creates none. The
// caller must not change it.
func FlowSpec(resource, name string) map[string]any { return flowSpecs()[resource+"/"+name] }

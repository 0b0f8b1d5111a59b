package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// normalize returns the state of the objects of a namespace. What differs from server
// to server is replaced: a UID by the name of its object, a generated name by its
// prefix and a number, a hash by its place among the hashes, times and addresses by
// placeholders.
func normalize(objects []map[string]any, ns string) state {
	n := &normalizer{ns: ns, names: map[string]string{}, uids: map[string]string{}}
	n.nameAll(objects)
	out := state{}
	events := map[string]float64{}
	for _, o := range objects {
		if object.String(o, "kind") == "events" {
			if raced(o) {
				continue
			}
			count, _ := o["count"].(float64)
			if repeated[object.String(o, "reason")] {
				events[n.event(o)] = 0
			} else {
				events[n.event(o)] += max(count, 1)
			}
			continue
		}
		key := object.String(o, "kind") + " " + n.name(object.String(o, "metadata", "name"))
		for out[key] != nil {
			key += "'"
		}
		out[key] = n.fields(o)
	}
	for e, count := range events {
		out["events "+e] = []string{fmt.Sprintf("count: %v", count)}
	}
	return out
}

// raced reports an Event that the real cluster records or not, by which of its controllers or of
// their caches is first.
func raced(event map[string]any) bool {
	switch object.String(event, "reason") {
	case "CalculateExpectedPodCountFailed", // the Pods of a ReplicaSet that is gone may be gone too
		"WaitForFirstConsumer", "WaitForPodScheduled", // a claim is looked at before or after the Pod that is created with it
		"ClusterIPNotAllocated": // kube-apiserver looks for leaks while a Service is created
		return true
	}
	// Two writers of one object conflict. The one that reports it tries again.
	return strings.Contains(object.String(event, "message"), "the object has been modified")
}

// repeated are the reasons of Events that come again with time, or with each retry. Their
// counts are not compared.
var repeated = map[string]bool{
	"FailedCreate": true, "FailedBinding": true, "ExternalProvisioning": true,
	"ProvisioningFailed": true, "VolumeMismatch": true, "NoPods": true, "UnmanagedPods": true,
	"FailedGetResourceMetric": true, "FailedComputeMetricsReplicas": true,
}

// comesAgain reports an Event that changes for as long as its cause lasts.
func comesAgain(o map[string]any) bool {
	return object.String(o, "kind") == "events" && (raced(o) || repeated[object.String(o, "reason")])
}

type normalizer struct {
	ns    string
	names map[string]string // of generated names
	uids  map[string]string
	order []string // generated names, the longest first
}

// ranks is the order of the kinds whose names are made of those of others.
var ranks = map[string]int{"deployments": 1, "replicasets": 2, "controllerrevisions": 2, "pods": 3, "events": 9}

// nameAll finds the generated names.
func (n *normalizer) nameAll(objects []map[string]any) {
	slices.SortStableFunc(objects, func(a, b map[string]any) int {
		return cmp.Or(
			cmp.Compare(ranks[object.String(a, "kind")], ranks[object.String(b, "kind")]),
			cmp.Compare(object.String(a, "metadata", "generateName"), object.String(b, "metadata", "generateName")),
			cmp.Compare(revision(a), revision(b)),
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(object.String(a, "metadata", "creationTimestamp"), object.String(b, "metadata", "creationTimestamp")),
		)
	})
	counts := map[string]int{}
	generate := func(name, prefix string) {
		counts[prefix]++
		n.names[name] = fmt.Sprintf("%s<%d>", prefix, counts[prefix])
		n.order = append(n.order, name)
	}
	for _, o := range objects {
		name := object.String(o, "metadata", "name")
		switch kind := object.String(o, "kind"); {
		case object.String(o, "metadata", "labels", "statefulset.kubernetes.io/pod-name") == name:
			// it is made of its ordinal
		case object.String(o, "metadata", "generateName") != "":
			generate(name, n.replace(object.String(o, "metadata", "generateName")))
		case kind == "replicasets" && object.String(o, "metadata", "labels", "pod-template-hash") != "",
			kind == "controllerrevisions":
			generate(name, name[:strings.LastIndexByte(name, '-')+1])
		}
		if hash := object.String(o, "metadata", "labels", "pod-template-hash"); hash != "" && n.names[hash] == "" {
			n.names[hash] = n.name(name) + "#"
			n.order = append(n.order, hash)
		}
		if object.String(o, "kind") == "controllerrevisions" { // of DaemonSets the label is the second one
			for _, label := range []string{"controller.kubernetes.io/hash", "controller-revision-hash"} {
				if hash := object.String(o, "metadata", "labels", label); hash != "" && n.names[hash] == "" {
					n.names[hash] = n.name(name) + "#"
					n.order = append(n.order, hash)
				}
			}
		}
		if uid := object.String(o, "metadata", "uid"); uid != "" {
			n.uids[uid] = "<uid of " + object.String(o, "kind") + " " + n.name(name) + ">"
		}
	}
	slices.SortFunc(n.order, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
}

// revision returns the number by which ReplicaSets and ControllerRevisions of one owner
// are ordered.
func revision(o map[string]any) float64 {
	if f, ok := o["revision"].(float64); ok {
		return f
	}
	var f float64
	fmt.Sscan(object.String(o, "metadata", "annotations", "deployment.kubernetes.io/revision"), &f)
	return f
}

// rank orders objects of one generated name by what they are, so that equal sets of
// them get equal names.
func rank(o map[string]any) string {
	node, phase := nodeFor(o), object.String(o, "status", "phase")
	index := object.String(o, "metadata", "annotations", "batch.kubernetes.io/job-completion-index")
	image := ""
	if list, _ := object.Value(o, "spec", "containers").([]any); len(list) > 0 {
		image = object.String(list[0].(map[string]any), "image")
	}
	return strings.Join([]string{index, image, node, phase, object.String(o, "metadata", "deletionTimestamp")}, "\x00")
}

func (n *normalizer) name(name string) string {
	if s, ok := n.names[name]; ok {
		return s
	}
	return n.replace(name)
}

// replace replaces generated names and the namespace in a text.
func (n *normalizer) replace(s string) string {
	for _, name := range n.order {
		if strings.Contains(s, name) {
			s = strings.ReplaceAll(s, name, n.names[name])
		}
	}
	return strings.ReplaceAll(s, n.ns, "NS")
}

var (
	timePattern    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	addressPattern = regexp.MustCompile(`\b10\.0\.0\.\d+\b`)
	uidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	podPattern     = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	refusedPattern = regexp.MustCompile(`pods "(\S*)-[bcdfghjklmnpqrstvwxz2456789]{5}"`)
	hashPattern    = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b`)
)

// fields returns the fields of an object as sorted lines.
func (n *normalizer) fields(o map[string]any) []string {
	var lines []string
	for _, name := range []string{"resourceVersion", "uid", "managedFields", "selfLink", "generation"} {
		delete(o["metadata"].(map[string]any), name)
	}
	status, _ := o["status"].(map[string]any)
	if status != nil {
		delete(status, "observedGeneration")
	}
	for condition := range object.Each(status["conditions"]) {
		// The second reason follows the first, unless the new ReplicaSet has its Pods before
		// the Deployment says that it has none.
		if reason := condition["reason"]; reason == "NewReplicaSetCreated" || reason == "ReplicaSetUpdated" {
			condition["reason"] = "NewReplicaSetCreated or ReplicaSetUpdated"
			delete(condition, "message")
		}
	}
	delete(object.Map(o, "spec", "claimRef"), "resourceVersion")
	if object.String(o, "kind") == "secrets" {
		decode(object.Map(o, "data"))
	}
	delete(o, "kind")
	delete(o, "apiVersion")
	n.flatten("", o, &lines)
	slices.Sort(lines)
	return lines
}

// decode replaces the values of a Secret by what they encode.
func decode(data map[string]any) {
	for name, v := range data {
		s, _ := v.(string)
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			data[name] = string(b)
		}
	}
}

// flatten adds a line for each scalar of v. Lists of objects with a type, a name or a
// UID are sorted by it, addresses by the Pods that they are of.
func (n *normalizer) flatten(path string, v any, lines *[]string) {
	switch t := v.(type) {
	case map[string]any:
		if len(t) == 0 {
			*lines = append(*lines, path+": {}")
		}
		for k, item := range t {
			n.flatten(strings.TrimPrefix(path+"."+n.replace(k), "."), item, lines)
		}
	case []any:
		if len(t) == 0 {
			*lines = append(*lines, path+": []")
		}
		for i, item := range t {
			key := fmt.Sprint(i)
			if m, ok := item.(map[string]any); ok {
				// The puppet gives all Pods one address, so that hashes of UIDs order them.
				if target := object.String(m, "targetRef", "name"); target != "" {
					n.flatten(path+"["+n.name(target)+"]", item, lines)
					continue
				}
				for _, by := range []string{"type", "name", "uid"} {
					if s, ok := m[by].(string); ok {
						key = n.scalar(s)
						break
					}
				}
			}
			n.flatten(path+"["+key+"]", item, lines)
		}
	case string:
		*lines = append(*lines, path+": "+n.scalar(t))
	default:
		b, _ := json.Marshal(t)
		*lines = append(*lines, path+": "+string(b))
	}
}

func (n *normalizer) scalar(s string) string {
	if timePattern.MatchString(s) {
		return "<time>"
	}
	if strings.HasPrefix(s, "-----BEGIN CERTIFICATE-----") {
		return "<certificate>"
	}
	if strings.HasPrefix(s, "eyJ") {
		return "<token>"
	}
	s = refusedPattern.ReplaceAllString(s, `pods "$1-<pod>"`)
	s = uidPattern.ReplaceAllStringFunc(s, func(uid string) string {
		if known := n.uids[uid]; known != "" {
			return known
		}
		return "<uid>"
	})
	return addressPattern.ReplaceAllString(n.replace(s), "<ip>")
}

// event returns an Event without its count.
func (n *normalizer) event(o map[string]any) string {
	message := strings.TrimPrefix(object.String(o, "message"), "(combined from similar events): ")
	about := object.String(o, "involvedObject", "kind") + " " + n.gone(n.name(object.String(o, "involvedObject", "name")))
	return fmt.Sprintf("%s %s %s %s: %s", about, object.String(o, "type"), object.String(o, "reason"), object.String(o, "source", "component"), n.gone(n.scalar(message)))
}

// gone replaces names and hashes that belong to objects that do not exist any more,
// and the numbers of those that do: Events of equal Pods are counted together.
func (n *normalizer) gone(s string) string {
	s = podPattern.ReplaceAllString(s, "-<pod>")
	s = hashPattern.ReplaceAllString(s, "-<hash>")
	return generated.ReplaceAllString(s, "<…>")
}

var generated = regexp.MustCompile(`<\d+>(-?<\d+>)?|<(pod|hash)>`)

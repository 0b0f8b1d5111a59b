package kinds

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// The rules of the API group storage.k8s.io.

const (
	maxParameters     = 512
	maxParametersSize = 256 << 10
	maxVolumeMessage  = 1024
	maxNodeID         = 256
)

func validateStorageClass(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, storageClass)
	}
	return mistakes(obj, nil, storageClass, func(p part) {
		p.immutable("parameters", "{}s", old)
		p.immutable("provisioner", "s", old)
		p.immutable("reclaimPolicy", "*s", old)
		p.immutable("volumeBindingMode", "*s", old)
	})
}

func storageClass(p part) {
	driver(p, "provisioner")
	parameters(p)
	if p.text("reclaimPolicy") != "" {
		p.oneOf("reclaimPolicy", "Delete", "Retain")
	}
	if !p.has("volumeBindingMode") {
		p.missing("volumeBindingMode", "")
	} else {
		p.oneOf("volumeBindingMode", "Immediate", "WaitForFirstConsumer")
	}
	// A term that allows anything is told once for each term, too.
	terms := make([]map[string][]string, p.size("allowedTopologies"))
	for _, term := range p.each("allowedTopologies") {
		values := topologyTerm(term)
		for _, other := range terms {
			if maps.EqualFunc(values, other, slices.Equal) {
				term.duplicate("matchLabelExpressions", "")
			}
		}
		terms = append(terms, values)
	}
}

// topologyTerm checks where a volume may be, and returns the sorted values by
// key.
func topologyTerm(p part) map[string][]string {
	out := map[string][]string{}
	for _, e := range p.each("matchLabelExpressions") {
		e.needs("values")
		values, seen := e.texts("values"), names{}
		for i, value := range values {
			if seen[value] {
				e.note(validation.Duplicate(e.at("values").Index(i), value))
			}
			seen[value] = true
		}
		key := e.text("key")
		e.add(validation.LabelKey(key, e.at("key")))
		if _, twice := out[key]; twice {
			e.duplicate("key", key)
		}
		slices.Sort(values)
		out[key] = slices.Compact(values)
	}
	return out
}

// driver checks the name of what makes volumes.
func driver(p part, name string) {
	if p.needs(name) {
		lower := strings.ToLower(p.text(name))
		p.add(validation.Each(p.at(name), lower, validation.QualifiedName(lower)))
	}
}

// parameters checks what a driver is told.
func parameters(p part) {
	if p.size("parameters") > maxParameters {
		p.note(validation.TooLong(p.at("parameters"), maxParameters))
		return
	}
	size := 0
	for key, v := range p.entries("parameters") {
		if key == "" {
			p.note(validation.Invalid(p.at("parameters"), key, "field can not be empty."))
		}
		value, _ := v.(string)
		size += len(key) + len(value)
	}
	if size > maxParametersSize {
		p.note(validation.TooLong(p.at("parameters"), maxParametersSize))
	}
}

func warnStorageClass(obj, _ map[string]any) []string {
	var warnings []string
	for _, term := range (part{obj: obj}).each("allowedTopologies") {
		for _, e := range term.each("matchLabelExpressions") {
			if message := deprecatedNodeLabels[e.text("key")]; message != "" {
				warnings = append(warnings, fmt.Sprintf("%s: %s", e.at("key"), message))
			}
		}
	}
	return warnings
}

func validateVolumeAttributesClass(obj, old map[string]any) validation.List {
	class := func(p part) {
		driver(p, "driverName")
		before := len(*p.errs)
		parameters(p)
		if p.size("parameters") == 0 && p.sound(before) {
			p.missing("parameters", "must contain at least one key/value pair")
		}
	}
	if old == nil {
		return mistakes(obj, nil, class)
	}
	return mistakes(obj, nil, func(p part) {
		for _, name := range []string{"driverName", "parameters"} {
			if !validation.Equal(p.obj[name], old[name]) {
				p.forbid(name, "updates to "+name+" are forbidden.")
			}
		}
	}, class)
}

func validateVolumeAttachment(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, volumeAttachment, func(p part) {
		if old != nil {
			p.immutable("spec", "storage.VolumeAttachmentSpec", old)
		}
	})
}

func volumeAttachment(p part) {
	spec := p.within("spec")
	csiDriverName(spec, "attacher")
	source := spec.within("source")
	switch inline, isInline := source.given("inlineVolumeSpec"); {
	case !isInline && !source.has("persistentVolumeName"):
		source.note(validation.Required(source.path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case isInline && source.has("persistentVolumeName"):
		source.note(validation.Forbidden(source.path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case isInline:
		inlineVolume(inline)
	case source.text("persistentVolumeName") == "":
		source.missing("persistentVolumeName", "must specify non empty persistentVolumeName")
	}
	spec.is("nodeName", subdomain)
	status := p.within("status")
	size := 0
	for key, v := range status.entries("attachmentMetadata") {
		value, _ := v.(string)
		size += len(key) + len(value)
	}
	if size > maxParametersSize {
		status.note(validation.TooLong(status.at("attachmentMetadata"), maxParametersSize))
	}
	status.ifGiven("attachError", volumeError)
	status.ifGiven("detachError", volumeError)
	if source.has("persistentVolumeName") {
		source.is("persistentVolumeName", subdomain)
	}
}

// volumeError checks what went wrong with an attachment.
func volumeError(p part) {
	if len(p.text("message")) > maxVolumeMessage {
		p.note(validation.TooLong(p.at("message"), maxParametersSize)) // the limit that kube-apiserver tells is another's
	}
	if code := p.integer("errorCode"); code < 0 {
		p.invalid("errorCode", validation.RangeMessage(0, math.MaxInt32))
	}
}

func validateCSINode(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), csiNode, func(p part) {
		if old != nil {
			csiNodeUpdate(p, object.Map(old, "spec"))
		}
	})
}

func csiNode(p part) {
	drivers := names{}
	for _, d := range p.each("drivers") {
		csiDriverName(d, "name")
		d.needs("nodeID")
		if len(d.text("nodeID")) > maxNodeID {
			d.invalid("nodeID", fmt.Sprintf("must be %d characters or less", maxNodeID))
		}
		d.within("allocatable").notNegative("count")
		drivers.unique(d, "name")
		keys := names{}
		for _, key := range d.texts("topologyKeys") {
			if key == "" {
				d.note(validation.Required(d.path, ""))
			}
			if keys[key] {
				d.note(validation.Duplicate(d.path, key))
			}
			keys[key] = true
			d.add(validation.Each(d.path, key, validation.QualifiedName(key)))
		}
	}
}

// csiNodeUpdate checks that the drivers that stay have changed in no more than
// what nodes can take of their volumes.
func csiNodeUpdate(p part, old map[string]any) {
	for was := range object.Each(old["drivers"]) {
		for is := range object.Each(p.obj["drivers"]) {
			if is["name"] != was["name"] {
				continue
			}
			is, was := maps.Clone(is), maps.Clone(was)
			delete(is, "allocatable")
			delete(was, "allocatable")
			if !validation.Equal(is, was) {
				p.note(validation.Invalid(p.at("drivers"), internal("storage.CSINodeDriver", is), "field is immutable"))
			}
		}
	}
}

func validateCSIDriver(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), csiDriver, func(p part) {
		if old == nil {
			return
		}
		was := object.Map(old, "spec")
		if !validation.Equal(p.obj["attachRequired"], was["attachRequired"]) {
			p.note(validation.Invalid(p.at("attachedRequired"), p.obj["attachRequired"], "field is immutable"))
		}
		p.immutable("volumeLifecycleModes", "[]s", was)
	})
}

func csiDriver(p part) {
	p.ifOneOf("fsGroupPolicy", "File", "None", "ReadWriteOnceWithFSType")
	audiences := names{}
	for _, request := range p.each("tokenRequests") {
		if !audiences.unique(request, "audience") || !request.has("expirationSeconds") {
			continue
		}
		switch seconds := request.integer("expirationSeconds"); {
		case seconds < minTokenExpiration:
			request.invalid("expirationSeconds", "may not specify a duration less than 10 minutes")
		case seconds > maxTokenExpiration:
			request.invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds")
		}
	}
	for _, mode := range p.texts("volumeLifecycleModes") {
		if mode != "Persistent" && mode != "Ephemeral" {
			p.note(validation.NotSupported(p.at("volumeLifecycleModes"), validation.NamedString(mode), []string{"Persistent", "Ephemeral"}))
		}
	}
	if period, ok := object.Int(p.obj, "nodeAllocatableUpdatePeriodSeconds"); ok && period < 10 {
		p.invalid("nodeAllocatableUpdatePeriodSeconds", "must be greater than or equal to 10 seconds")
	}
	if p.has("serviceAccountTokenInSecrets") && p.size("tokenRequests") == 0 {
		p.invalid("serviceAccountTokenInSecrets", "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
}

// warnCSIDriver tells of tokens that a driver is given in a place where they
// may be logged.
func warnCSIDriver(obj, old map[string]any) []string {
	spec := object.Map(obj, "spec")
	tokens := object.List(spec, "tokenRequests")
	if len(tokens) == 0 || spec["serviceAccountTokenInSecrets"] != nil {
		return nil
	}
	if old != nil && validation.Equal(tokens, object.List(old, "spec", "tokenRequests")) {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}
}

func validateCSIStorageCapacity(obj, old map[string]any) validation.List {
	var opts validation.LabelSelectorOptions
	if topology := object.Map(old, "nodeTopology"); topology != nil {
		opts.InvalidValues = len(validation.LabelSelector(topology, validation.LabelSelectorOptions{}, nil)) > 0
	}
	capacity := func(p part) {
		p.labelSelector("nodeTopology", opts)
		p.is("storageClassName", subdomain)
		if quantity, ok := p.obj["capacity"].(string); ok {
			p.add(nonNegativeQuantity(quantity, p.at("capacity")))
		}
	}
	if old == nil {
		return mistakes(obj, nil, capacity)
	}
	return mistakes(obj, nil, capacity, func(p part) {
		p.immutable("nodeTopology", "*metav1.LabelSelector", old)
		p.immutable("storageClassName", "s", old)
	})
}

func warnCSIStorageCapacity(obj, _ map[string]any) []string {
	topology := part{obj: object.Map(obj, "nodeTopology"), path: validation.NewPath("nodeTopology")}
	var warnings []string
	for _, e := range topology.each("matchExpressions") {
		if key := e.text("key"); deprecatedNodeLabels[key] != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", e.at("key"), key, deprecatedNodeLabels[key]))
		}
	}
	for label := range topology.entries("matchLabels") {
		if message := deprecatedNodeLabels[label]; message != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s", topology.at("matchLabels").Child(label), message))
		}
	}
	return warnings
}

func validateRuntimeClass(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, runtimeClassSpec)
	}
	return mistakes(obj, nil, func(p part) {
		meta := p.within("metadata")
		p.add(validation.ObjectMeta(meta.obj, false, validation.SubdomainName, meta.path))
	}, runtimeClassSpec, func(p part) { p.immutable("handler", "s", old) })
}

func runtimeClassSpec(p part) {
	p.needsToBe("handler", validation.DNS1123Label)
	p.ifGiven("overhead", func(overhead part) {
		limits := map[string]any{"limits": object.Map(overhead.obj, "podFixed")}
		resourceRequirements(part{limits, overhead.path, overhead.errs}, containerResourceName, nil)
	})
	p.ifGiven("scheduling", func(scheduling part) {
		scheduling.add(validation.Labels(object.Map(scheduling.obj, "nodeSelector"), scheduling.at("nodeSelector")))
		tolerations(scheduling, "tolerations")
		seen := names{}
		for _, t := range scheduling.each("tolerations") {
			id := strings.Join([]string{t.text("key"), t.text("operator"), t.text("value"), t.text("effect")}, "\x00")
			if seen[id] {
				t.note(validation.Duplicate(t.path, internal("core.Toleration", t.obj)))
			}
			seen[id] = true
		}
	})
}

func warnRuntimeClass(obj, _ map[string]any) []string {
	var warnings []string
	selector := object.Map(obj, "scheduling", "nodeSelector")
	for _, key := range sortedKeys(selector) {
		if message := deprecatedNodeLabels[key]; message != "" {
			warnings = append(warnings, "scheduling.nodeSelector: "+message)
		}
	}
	return warnings
}

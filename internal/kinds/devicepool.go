package kinds

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of a request for the status of pools of devices.
const (
	defaultPools    = 100
	mostPools       = 1000
	longestPoolNote = 256
)

func defaultPoolStatusRequest(obj map[string]any) {
	fill(child(obj, "spec"), "limit", int64(defaultPools))
}

// validatePoolStatusRequest checks what a request asks for, which stays.
func validatePoolStatusRequest(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec part) {
		if old != nil {
			if !validation.Equal(obj["spec"], old["spec"]) {
				spec.note(validation.Invalid(spec.path, nil, "field is immutable"))
			}
			return
		}
		spec.needsToBe("driver", validation.LongNameCaseless)
		if spec.has("poolName") {
			poolSegments(spec, "poolName")
		}
		atLeast(spec, 1, "limit")
		if n := spec.integer("limit"); n > mostPools {
			spec.note(validation.Invalid(spec.at("limit"), n, fmt.Sprintf("must be less than or equal to %d", mostPools)))
		}
	})
}

// validatePoolStatus checks the answer to a request, which is given once.
func validatePoolStatus(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		switch {
		case old["status"] != nil:
			if !validation.Equal(obj["status"], old["status"]) {
				status.note(validation.Invalid(status.path, internal("*resource.ResourcePoolStatusRequestStatus", obj["status"]), "field is immutable"))
			}
			return
		case obj["status"] == nil:
			return
		}
		status.add(validation.Conditions(object.List(status.obj, "conditions"), status.at("conditions")))
		if !status.has("poolCount") {
			status.missing("poolCount", "")
		}
		atLeast(status, 0, "poolCount")
		for _, pool := range status.each("pools") {
			poolStatus(pool)
		}
		types := names{}
		for _, condition := range status.each("conditions") {
			if typ := condition.text("type"); types[typ] {
				condition.note(validation.Duplicate(condition.path, internal("metav1.Condition", condition.obj)))
			} else {
				types[typ] = true
			}
		}
	})
}

func poolStatus(pool part) {
	pool.needsToBe("driver", validation.LongNameCaseless)
	if pool.needs("poolName") {
		poolSegments(pool, "poolName")
	}
	if pool.integer("generation") == 0 {
		pool.missing("generation", "")
	}
	atLeast(pool, 0, "generation")
	atLeast(pool, 1, "resourceSliceCount")
	for _, count := range []string{"totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"} {
		atLeast(pool, 0, count)
	}
	if pool.has("nodeName") {
		pool.add(validation.Each(pool.at("nodeName"), pool.text("nodeName"), validation.LongName(pool.text("nodeName"))))
	}
	if note := pool.text("validationError"); len(note) > longestPoolNote {
		pool.note(validation.TooLong(pool.at("validationError"), longestPoolNote))
	}
}

// atLeast checks that a number, if there is one, is not below the least.
func atLeast(p part, least int64, name string) {
	if n := p.integer(name); p.has(name) && n < least {
		p.note(validation.Invalid(p.at(name), n, fmt.Sprintf("must be greater than or equal to %d", least)))
	}
}

// poolSegments checks the name of a pool, telling which of its segments is wrong.
func poolSegments(p part, name string) {
	pool := p.text(name)
	if len(pool) > validation.DNS1123SubdomainMaxLength {
		p.note(validation.TooLong(p.at(name), validation.DNS1123SubdomainMaxLength))
	}
	for i, segment := range strings.Split(pool, "/") {
		wrong := func(value, message string) {
			p.note(validation.Invalid(p.at(name), value, fmt.Sprintf("segment %d: %s", i, message)))
		}
		if segment == "" {
			wrong(pool, "must not be empty")
			continue
		}
		for _, message := range validation.LongName(segment) {
			wrong(segment, message)
		}
	}
}

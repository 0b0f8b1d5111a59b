package resourceapi

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// Limits of a request for the status of pools of devices.
const (
	defaultPools      = 100
	maxPools          = 1000
	maxPoolNoteLength = 256
	maxSummaries      = 32
)

// validatePoolStatusRequest checks the spec of a request. Updates cannot change it.
func validatePoolStatusRequest(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		if !old.IsNil() {
			if !validation.Equal(obj["spec"], old.At("spec")) {
				spec.Add(validation.Invalid(spec.Path, nil, "field is immutable"))
			}
			return
		}
		spec.RequireFormat("driver", validation.LongNameCaseless)
		if spec.Has("poolName") {
			checkPoolSegments(spec, "poolName")
		}
		if spec.Has("defaultPartitionTypeAttribute") {
			checkFullAttributeName(spec, "defaultPartitionTypeAttribute")
		}
		checkAtLeast(spec, 1, "limit")
		if n := spec.Int("limit"); n > maxPools {
			spec.Add(validation.Invalid(spec.At("limit"), n, fmt.Sprintf("must be less than or equal to %d", maxPools)))
		}
	})
}

// validatePoolStatus checks the status of a request. It can be set only once.
func validatePoolStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		switch {
		case !old.IsNil("status"):
			if !validation.Equal(obj["status"], old.At("status")) {
				status.Add(validation.Invalid(status.Path, validation.AsGoType("*resource.ResourcePoolStatusRequestStatus", obj["status"]), "field is immutable"))
			}
			return
		case obj["status"] == nil:
			return
		}
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
		if !status.Has("poolCount") {
			status.Required("poolCount", "")
		}
		checkAtLeast(status, 0, "poolCount")
		for _, pool := range status.Each("pools") {
			checkPoolStatus(pool)
		}
		types := validation.Seen{}
		for _, condition := range status.Each("conditions") {
			if typ := condition.String("type"); types[typ] {
				condition.Add(validation.Duplicate(condition.Path, validation.AsGoType("metav1.Condition", condition.Obj)))
			} else {
				types[typ] = true
			}
		}
	})
}

func checkPoolStatus(pool validation.View) {
	pool.RequireFormat("driver", validation.LongNameCaseless)
	if pool.Require("poolName") {
		checkPoolSegments(pool, "poolName")
	}
	if pool.Int("generation") == 0 {
		pool.Required("generation", "")
	}
	checkAtLeast(pool, 0, "generation")
	checkAtLeast(pool, 1, "resourceSliceCount")
	for _, count := range []string{"totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"} {
		checkAtLeast(pool, 0, count)
	}
	if pool.Has("nodeName") {
		pool.AddList(validation.Each(pool.At("nodeName"), pool.String("nodeName"), validation.LongName(pool.String("nodeName"))))
	}
	if note := pool.String("validationError"); len(note) > maxPoolNoteLength {
		pool.Add(validation.TooLong(pool.At("validationError"), maxPoolNoteLength))
	}
	checkPartitionSummary(pool)
	pool.IfPresent("shareableSummary", func(summary validation.View) {
		requireCount(summary, "fullyAvailableDevices")
		requireCount(summary, "partiallyAvailableDevices")
		if checkSize(summary, "capacity", maxSummaries) {
			for _, capacity := range summary.Each("capacity") {
				for _, name := range []string{"name", "total", "consumed", "available"} {
					capacity.Require(name)
				}
			}
		}
	})
}

// checkPartitionSummary checks the counts of the partitions of a pool, by attribute and type.
func checkPartitionSummary(pool validation.View) {
	if !checkSize(pool, "partitionSummary", maxSummaries) {
		return
	}
	seen := validation.Seen{}
	for _, partition := range pool.Each("partitionSummary") {
		key := partition.String("attribute") + "\x00" + partition.String("type")
		if seen[key] {
			partition.Add(validation.Duplicate(partition.Path, quotedItemIn("v1alpha3", "ResourcePoolStatusRequest", partition.Obj, "status", "pools", "partitionSummary")))
		}
		seen[key] = true
	}
	for _, partition := range pool.Each("partitionSummary") {
		partition.Require("attribute")
		partition.Require("type")
		requireCount(partition, "total")
		requireCount(partition, "allocatable")
	}
}

// requireCount checks that a field is present and not negative.
func requireCount(p validation.View, name string) {
	if !p.Has(name) {
		p.Required(name, "")
	}
	checkAtLeast(p, 0, name)
}

// checkAtLeast checks that a field is absent or not less than least.
func checkAtLeast(p validation.View, least int64, name string) {
	if n := p.Int(name); p.Has(name) && n < least {
		p.Add(validation.Invalid(p.At(name), n, fmt.Sprintf("must be greater than or equal to %d", least)))
	}
}

// checkPoolSegments checks the name of a pool. Its errors contain the index of the
// invalid segment.
func checkPoolSegments(p validation.View, name string) {
	pool := p.String(name)
	if len(pool) > validation.DNS1123SubdomainMaxLength {
		p.Add(validation.TooLong(p.At(name), validation.DNS1123SubdomainMaxLength))
	}
	for i, segment := range strings.Split(pool, "/") {
		wrong := func(value, message string) {
			p.Add(validation.Invalid(p.At(name), value, fmt.Sprintf("segment %d: %s", i, message)))
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

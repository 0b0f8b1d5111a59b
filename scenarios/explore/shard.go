package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Shard is one of several searches that share the plans of a system: each plan belongs to one of
// them, by its hash, so that a new point of the system moves no other plan. A shard makes the
// reference run and its own plans. Its zero value has all plans.
type Shard struct {
	// Index is the number of the shard, from 1 to Count.
	Index, Count int
}

// ParseShard reads a shard: "2/8" is the second of eight, and "8" is the one of eight that the
// environment says: JOB_COMPLETION_INDEX of a Kubernetes Job, which begins at 0. "" is the shard of
// a test runner: TEST_SHARD_INDEX and TEST_TOTAL_SHARDS of Bazel, or CI_NODE_INDEX and CI_NODE_TOTAL
// of GitLab and others; without them it is the zero value.
func ParseShard(text string) (Shard, error) {
	index, count, both := strings.Cut(text, "/")
	first := 1
	switch {
	case both:
	case text != "":
		index, count, first = os.Getenv("JOB_COMPLETION_INDEX"), text, 0
		if index == "" {
			return Shard{}, fmt.Errorf("shard %q has no index, and JOB_COMPLETION_INDEX is not set; write 1/%s", text, text)
		}
	case os.Getenv("TEST_TOTAL_SHARDS") != "":
		index, count, first = os.Getenv("TEST_SHARD_INDEX"), os.Getenv("TEST_TOTAL_SHARDS"), 0
	case os.Getenv("CI_NODE_TOTAL") != "":
		index, count = os.Getenv("CI_NODE_INDEX"), os.Getenv("CI_NODE_TOTAL")
	default:
		return Shard{}, nil
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	s := Shard{i - first + 1, n}
	if errors.Join(err1, err2) != nil || !s.valid() {
		return Shard{}, fmt.Errorf("shard %s/%s: a shard is written as 2/8, from 1/8 to 8/8", index, count)
	}
	return s, nil
}

// String returns the shard as ParseShard reads it.
func (s Shard) String() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

func (s Shard) valid() bool { return s == (Shard{}) || s.Index >= 1 && s.Index <= s.Count }

// has reports whether the plan with a hash belongs to the shard.
func (s Shard) has(plan digest) bool {
	return s.Count == 0 || uint64(plan)%uint64(s.Count) == uint64(s.Index-1)
}

// A digest identifies a plan, a decision, a point or a state in files. It is the same in all
// processes.
type digest uint64

// digestOf returns the digest of a plan, a decision or a point.
func digestOf(v any) digest {
	h := fnv.New64a()
	b, _ := json.Marshal(v) // strings and numbers always encode
	h.Write(b)
	return digest(h.Sum64())
}

// MarshalText implements [encoding.TextMarshaler].
func (d digest) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(d)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *digest) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*d = digest(n)
	return err
}

// digests are a set, which is a sorted list in JSON.
type digests map[digest]bool

// MarshalJSON implements [json.Marshaler].
func (d digests) MarshalJSON() ([]byte, error) {
	return json.Marshal(slices.Sorted(maps.Keys(d)))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *digests) UnmarshalJSON(text []byte) error {
	var list []digest
	err := json.Unmarshal(text, &list)
	*d = make(digests, len(list))
	for _, e := range list {
		(*d)[e] = true
	}
	return err
}

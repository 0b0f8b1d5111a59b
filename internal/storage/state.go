package storage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// A written state is a sequence of JSON values, one a line: a StateHeader, and then a
// StateItem for each object, in the order of their keys.

// stateFormat is the format of written states.
const stateFormat = 1

// A StateHeader is the first line of a written state.
type StateHeader struct {
	Format   int           `json:"fakeapiState"`
	Release  string        `json:"release"`
	Revision mvcc.Revision `json:"revision"`
	// Source is another text in each written state. A server that continues the state and the
	// one that has written it generate different UIDs, also with the same seed.
	Source string `json:"source,omitempty"`
	// ServiceAccountKey is the generated key of service account tokens in PKCS #8; nil
	// if there is none.
	ServiceAccountKey []byte `json:"serviceAccountKey,omitempty"`
}

// A StateItem is an object of a written state.
type StateItem struct {
	Group     string          `json:"group,omitempty"`
	Version   string          `json:"version"` // in which the object is stored
	Resource  string          `json:"resource"`
	Created   mvcc.Revision   `json:"created"`
	Writes    int64           `json:"writes"` // since the object was created, with that
	Completed bool            `json:"completed,omitempty"`
	Object    json.RawMessage `json:"object"`
	Stored    json.RawMessage `json:"stored,omitempty"`  // what kube-apiserver stores of a completed custom resource
	Untyped   []string        `json:"untyped,omitempty"` // see [wire.Encoded.UntypedTexts]
}

// A State is a state that was read.
type State struct {
	StateHeader
	Items []StateItem
}

// Identity returns a text that distinguishes the state from others, those without a Source by
// their revision.
func (s *State) Identity() string { return fmt.Sprintf("state %d %s", s.Revision, s.Source) }

// Write writes the state of a snapshot. It sets Format and Revision of the header.
func (s *Snapshot) Write(w io.Writer, header StateHeader) error {
	buffered := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	header.Format, header.Revision = stateFormat, s.Revision()
	if err := encoder.Encode(header); err != nil {
		return err
	}
	for item := range s.view.Range("", "") {
		o := item.Value
		line := StateItem{
			Group: o.typ.Group, Version: o.typ.Version, Resource: o.typ.Name,
			Created: item.Created, Writes: item.Version, Completed: o.Completed, Object: o.JSON(), Untyped: o.encoded.UntypedTexts(),
		}
		if o.asStored != nil {
			line.Stored = o.asStored.Append(nil, int64(o.Revision))
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// ReadState reads a written state.
func ReadState(r io.Reader) (*State, error) {
	decoder := json.NewDecoder(bufio.NewReader(r))
	out := &State{}
	if err := decoder.Decode(&out.StateHeader); err != nil {
		return nil, fmt.Errorf("the state is not in the format of WriteState: %w", err)
	}
	if out.Format != stateFormat {
		return nil, errors.New("the state is not in the format of WriteState of this version")
	}
	for {
		var item StateItem
		switch err := decoder.Decode(&item); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("object %d of the state: %w", len(out.Items)+1, err)
		}
		out.Items = append(out.Items, item)
	}
}

// Item returns the object for [mvcc.Store.Load]. t is the type that the item names.
func (i *StateItem) Item(t *resource.Type) (*mvcc.Item[*Object], error) {
	obj, err := i.decode(t)
	if err != nil {
		return nil, err
	}
	rev, err := ParseVersion(object.String(obj, "metadata", "resourceVersion"))
	if err != nil {
		return nil, err
	}
	o := New(t, obj, nil).At(mvcc.Revision(rev))
	o.Completed = i.Completed
	if len(i.Stored) > 0 {
		bare, _, err := t.Codec.Decode(i.Stored, false)
		if err != nil {
			return nil, err
		}
		o.asStored = &New(t, bare, nil).encoded
	}
	return &mvcc.Item[*Object]{
		Key: t.Key(o.Namespace, o.Name), Value: o,
		Created: i.Created, Modified: o.Revision, Version: i.Writes,
	}, nil
}

func (i *StateItem) decode(t *resource.Type) (map[string]any, error) {
	if typ := t.Codec.Wire(); typ != nil && len(i.Untyped) > 0 {
		return typ.DecodeWithUntyped(i.Object, i.Untyped)
	}
	obj, _, err := t.Codec.Decode(i.Object, false)
	return obj, err
}

// Load replaces the contents of a new store by items, at a revision; see
// [mvcc.Store.Load].
func (s *Store) Load(rev mvcc.Revision, items []*mvcc.Item[*Object]) {
	s.database.Load(rev, slices.Values(items))
}

package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

func TestEventCache(t *testing.T) {
	protobuf := codec.Response{Format: codec.Protobuf, Stream: true}
	object := &storage.Object{Name: "a"}
	modified := storage.Change{Type: storage.Modified, Object: object, Revision: 7}

	t.Run("encodes once", func(t *testing.T) {
		var c eventCache
		calls := 0
		encode := func() []byte { calls++; return []byte("event") }
		for range 3 {
			assert.Equal(t, "event", string(c.get(eventKey{change: modified, form: protobuf}, encode)))
		}
		assert.Equal(t, 1, calls)
	})

	t.Run("tells events and forms apart", func(t *testing.T) {
		var c eventCache
		metadata, older := protobuf, protobuf
		metadata.View, metadata.Version = codec.PartialMetadata, "v1"
		older.View, older.Version = codec.PartialMetadata, "v1beta1"
		deleted, again, other := modified, modified, modified
		deleted.Type = storage.Deleted
		again.Revision++
		other.Object = &storage.Object{Name: "a"}
		for i, key := range []eventKey{
			{change: modified, form: protobuf},
			{change: modified, form: codec.Response{Format: codec.CBOR, Stream: true}},
			{change: modified, form: metadata},
			{change: modified, form: older},
			{change: deleted, form: protobuf},
			{change: again, form: protobuf},
			{change: other, form: protobuf},
		} {
			text := fmt.Sprint(i)
			assert.Equal(t, text, string(c.get(key, func() []byte { return []byte(text) })))
		}
	})

	rows := []struct {
		name   string
		length int // of an event
		puts   int
		kept   int
	}{
		{"number", 1, 10 * maxCachedEvents, maxCachedEvents},
		{"size", maxCachedEventSize/4 - 1024, 20, 4},
		{"too large", maxCachedEventSize + 1, 1, 0},
	}
	for _, row := range rows {
		t.Run("is limited by "+row.name, func(t *testing.T) {
			var c eventCache
			text := strings.Repeat("x", row.length)
			for i := range row.puts {
				change := modified
				change.Revision = mvcc.Revision(i)
				c.put(eventKey{change: change, form: protobuf}, []byte(text))
			}
			require.Len(t, c.events, row.kept)
			require.Len(t, c.order, row.kept)
			if row.kept == 0 {
				assert.Zero(t, c.size)
				return
			}
			assert.EqualValues(t, row.puts-row.kept, c.order[0].change.Revision, "the oldest is removed first")
			assert.EqualValues(t, row.kept*row.length, c.size-int64(row.kept)*object.Size())
			assert.LessOrEqual(t, c.size, int64(maxCachedEventSize))
		})
	}
}

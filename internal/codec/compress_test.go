package codec_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
)

const threshold = 128 << 10

// answer lets a Compressor write a body of the given size, in parts.
func answer(t *testing.T, acceptEncoding string, size, part int) *http.Response {
	t.Helper()
	r := get("")
	r.Header.Set("Accept-Encoding", acceptEncoding)
	w := httptest.NewRecorder()
	c := codec.Compress(w, r)
	c.Header().Set("Content-Type", "application/json")
	c.Header().Set("Content-Length", "5")
	c.WriteHeader(http.StatusCreated)
	body := bytes.Repeat([]byte("x"), size)
	for len(body) > 0 {
		n, err := c.Write(body[:min(part, len(body))])
		require.NoError(t, err)
		body = body[n:]
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "again")
	return w.Result()
}

func TestCompress(t *testing.T) {
	for name, row := range map[string]struct {
		encoding   string
		size, part int
		compressed bool
	}{
		"over":             {"gzip", threshold + 1, 1 << 20, true},
		"not over":         {"gzip", threshold, 1 << 20, false},
		"empty":            {"gzip", 0, 1, false},
		"in parts":         {"gzip", 3 * threshold, 1000, true},
		"small, in parts":  {"gzip", 5000, 1000, false},
		"among others":     {"gzip, deflate, br", 2 * threshold, 1 << 20, true},
		"last":             {"br,gzip", 2 * threshold, 1 << 20, true},
		"with a quality":   {"deflate, gzip;q=1.0", 2 * threshold, 1 << 20, false},
		"any":              {"*", 2 * threshold, 1 << 20, false},
		"upper case":       {"GZIP", 2 * threshold, 1 << 20, false},
		"another name":     {"x-gzip", 2 * threshold, 1 << 20, false},
		"identity":         {"identity", 2 * threshold, 1 << 20, false},
		"none":             {"", 2 * threshold, 1 << 20, false},
		"none, in parts":   {"", 2 * threshold, 1000, false},
		"a multiple of it": {"gzip", 4 * threshold, threshold, true},
	} {
		t.Run(name, func(t *testing.T) {
			res := answer(t, row.encoding, row.size, row.part)
			assert.Equal(t, http.StatusCreated, res.StatusCode)
			assert.Equal(t, "application/json", res.Header.Get("Content-Type"))
			body := io.Reader(res.Body)
			if row.compressed {
				assert.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
				assert.Equal(t, "Accept-Encoding", res.Header.Get("Vary"))
				assert.Empty(t, res.Header.Get("Content-Length"))
				var err error
				body, err = gzip.NewReader(body)
				require.NoError(t, err)
			} else {
				assert.Empty(t, res.Header.Get("Content-Encoding"))
				assert.Empty(t, res.Header.Get("Vary"))
			}
			n, err := io.Copy(io.Discard, body)
			assert.NoError(t, err)
			assert.EqualValues(t, row.size, n)
		})
	}
}

func TestCompressUnwraps(t *testing.T) {
	w := httptest.NewRecorder()
	assert.Same(t, w, codec.Compress(w, get("")).Unwrap())
}

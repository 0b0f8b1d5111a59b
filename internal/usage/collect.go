package usage

import (
	"bytes"
	"os"
	"sync"
)

// collections are those of this process, by folder: servers of a process that do not know each
// other write one file.
var collections sync.Map

// A collection adds usages up in a file.
type collection struct {
	mu   sync.Mutex // guards the fields below
	file string     // "" before the first usage
	sum  Usage
}

// Collect adds a usage to that of this process in a folder, and writes the sum to a file of the
// folder, which it creates. The name of the file is another one in each process, so that the files
// of several machines can be copied into one folder. Errors are those of the file system.
func Collect(folder string, u *Usage) error {
	c, _ := collections.LoadOrStore(folder, &collection{})
	return c.(*collection).add(folder, u)
}

func (c *collection) add(folder string, u *Usage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		f, err := os.CreateTemp(folder, "usage-*.json")
		if err != nil {
			return err
		}
		c.file = f.Name()
		if err := f.Close(); err != nil {
			return err
		}
	}
	c.sum.Add(u)
	var text bytes.Buffer
	if err := c.sum.Write(&text); err != nil {
		return err
	}
	temporary := c.file + ".tmp" // a reader sees the whole file, or the one before
	if err := os.WriteFile(temporary, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, c.file)
}

package scenarios

import (
	"bytes"
	"fmt"
	"path/filepath"
)

// An origin is the place of a scenario in its file.
type origin struct {
	file     string
	line     int // of the document, from 1 on
	document []byte
}

// folder returns the folder of the file, to which the names of other files are relative.
func (o *origin) folder() string {
	if o == nil {
		return "."
	}
	return filepath.Dir(o.file)
}

// position is Result.Position.
func (o *origin) position(step, row int) string {
	if o == nil {
		return ""
	}
	lines := bytes.SplitAfter(o.document, []byte("\n"))
	begin, end, column, _ := findStep(lines, step) // 0 if it is not found
	if row >= 0 && end > begin {
		if at := findRow(lines, begin, end, column, row); at > 0 {
			begin = at
		}
	}
	return fmt.Sprintf("%s:%d", o.file, o.line+begin)
}

// findRow returns the line of a row of the step from begin to before end; 0 if it is not found.
func findRow(lines [][]byte, begin, end, column, row int) int {
	for i := begin; i < end; i++ {
		line := lines[i]
		if i == begin {
			line = bytes.Replace(line, []byte("-"), []byte(" "), 1)
		}
		if indent(line) == column && bytes.HasPrefix(line[column:], []byte("rows:")) {
			at, _, _, _ := findItem(lines[:end], i, row)
			return at
		}
	}
	return 0
}

//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns the largest resident set of a process that has ended, in bytes.
func maxResident(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}

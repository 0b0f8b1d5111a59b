package metrics

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// Process returns the metrics of the process, which started at a time. On systems without
// the files of Linux in /proc this is only the start.
func Process(start time.Time) []Family {
	p := process{one("process_start_time_seconds", Gauge, "Start time of the process since unix epoch in seconds.", float64(start.UnixNano())/1e9)}
	p.readStat()
	p.readLimits()
	p.readNetwork()
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.add("process_open_fds", Gauge, "Number of open file descriptors.", float64(len(open)-1)) // without that of the directory
	}
	return p
}

// one returns a family with one sample.
func one(name string, typ Type, help string, value float64) Family {
	return Family{Name: name, Type: typ, Help: help, Samples: []Sample{{Value: value}}}
}

// process are the metrics of a process.
type process []Family

func (p *process) add(name string, typ Type, help string, value float64) {
	*p = append(*p, one(name, typ, help, value))
}

// clockTicks is how many units of time in /proc are a second.
const clockTicks = 100

// readStat reads the times and the memory.
func (p *process) readStat() {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	_, text, _ = bytes.Cut(text, []byte(") ")) // after the name, which may have spaces
	fields := strings.Fields(string(text))
	const utime, stime, vsize, rss = 11, 12, 20, 21 // see proc_pid_stat(5), whose numbers are greater by 3
	if len(fields) <= rss {
		return
	}
	value := func(i int) float64 {
		n, _ := strconv.ParseFloat(fields[i], 64) // a field of Linux is a number
		return n
	}
	p.add("process_cpu_seconds_total", Counter, "Total user and system CPU time spent in seconds.", (value(utime)+value(stime))/clockTicks)
	p.add("process_virtual_memory_bytes", Gauge, "Virtual memory size in bytes.", value(vsize))
	p.add("process_resident_memory_bytes", Gauge, "Resident memory size in bytes.", value(rss)*float64(os.Getpagesize()))
}

// readLimits reads the limits of files and memory.
func (p *process) readLimits() {
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return
	}
	for _, line := range strings.Split(string(text), "\n") {
		for _, limit := range []struct{ prefix, name, help string }{
			{"Max open files", "process_max_fds", "Maximum number of open file descriptors."},
			{"Max address space", "process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes."},
		} {
			rest, ok := strings.CutPrefix(line, limit.prefix)
			fields := strings.Fields(rest)
			if !ok || len(fields) == 0 {
				continue
			}
			n, err := strconv.ParseUint(fields[0], 10, 64)
			if err != nil {
				n = 1<<64 - 1 // "unlimited"
			}
			p.add(limit.name, Gauge, limit.help, float64(n))
		}
	}
}

// readNetwork reads how many bytes were received and sent.
func (p *process) readNetwork() {
	text, err := os.ReadFile("/proc/self/net/netstat")
	if err != nil {
		return
	}
	var names []string
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "IpExt:" {
			continue
		}
		if names == nil {
			names = fields // the next line has their values
			continue
		}
		for i := range min(len(names), len(fields)) {
			n, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				continue
			}
			switch names[i] {
			case "InOctets":
				p.add("process_network_receive_bytes_total", Counter, "Number of bytes received by the process over the network.", n)
			case "OutOctets":
				p.add("process_network_transmit_bytes_total", Counter, "Number of bytes sent by the process over the network.", n)
			}
		}
		return
	}
}

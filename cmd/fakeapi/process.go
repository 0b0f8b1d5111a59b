package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/inputfile"
)

// signalProcess sends a signal to the process whose ID is in a file.
func signalProcess(file string, s os.Signal) error {
	text, err := inputfile.Read(file)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || id <= 1 { // 0 and less are groups of processes, and 1 is the first process of the system
		return fmt.Errorf("%s: %q is not the ID of a process", file, strings.TrimSpace(string(text)))
	}
	p, err := os.FindProcess(id)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer p.Release()
	if err := p.Signal(s); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

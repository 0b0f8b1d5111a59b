package main

import "os"

// maxResident returns 0: the state of a process does not say.
func maxResident(*os.ProcessState) int64 { return 0 }

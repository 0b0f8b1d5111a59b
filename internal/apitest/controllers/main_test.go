package controllers_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs eight tests at a time unless a flag says otherwise: they wait for Settle, not for
// processors.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}

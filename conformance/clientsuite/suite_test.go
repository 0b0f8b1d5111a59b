package clientsuite

import "testing"

// The tests of the suite run here with the client-go that this module requires,
// five minor releases behind the newest: the one that package restconfig requires, too,
// so that it is compiled once. Package clients runs them with newer ones.

func TestInformers(t *testing.T)      { Informers(t) }
func TestPages(t *testing.T)          { Pages(t) }
func TestLeaderElection(t *testing.T) { LeaderElection(t) }

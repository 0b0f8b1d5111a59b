package mvcc

// A Revision counts the transactions of a store. An empty store is at revision 1. Each
// committed transaction with changes adds one, and its changes have the new number.
//
// As an argument, 0 means "now". The methods describe what that is for them.
type Revision int64

package mvcc

// A Revision counts the changes of a store. An empty store is at revision 1. Each put and
// each deletion that is committed adds one and has the new number: those of a transaction
// have consecutive revisions, in their order.
//
// As an argument, 0 means "now". The methods describe what that is for them.
type Revision int64

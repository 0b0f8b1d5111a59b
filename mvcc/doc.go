// Package mvcc is an ordered key-value store in memory that keeps its history:
// every revision can be read, every change can be watched, until it is
// compacted. Its semantics are those of etcd v3.6. Values are of the caller's
// type; the store never looks into, copies or changes one.
//
// # Terms
//
// A transaction puts and deletes keys, all or nothing. The revision of the
// store counts transactions. An item is one version of a key; its lifespan
// begins with a put of a key that does not exist and ends with a deletion, which
// leaves a tombstone in the log. A view is the store at one revision. A watcher
// delivers events, what transactions did to the keys with a prefix. Compaction
// gives up what is older than a revision. A fork is a second store that begins
// as a copy of the first. A replica shows the store late, by as much as its lag.
//
// # A worked history
//
// A store consists of three trees. The live tree has the newest version of each
// key that exists. The log has the transactions, each with what it did and what
// was there before. The past has the versions that are no more, by key and by
// the revision that ended them: it is an index of the log. Written as
// key@modified, three transactions make
//
//	2: put a, put b
//	3: put a
//	4: delete a, put c
//
//	live   b@2  c@4
//	past   a@2 until 3  a@3 until 4
//	log    2: +a +b    3: +a (was a@2)    4: -a (was a@3) +c
//
// A view of the newest revision, 4, is the live tree. A view of revision 3 has
// the live items that are not younger, b@2, and the past ones that had begun
// and not ended, a@3. A watcher of "a" from revision 3 reads the log from there:
// +a, -a.
//
// Compacting to 3 drops the log below 3, and with each transaction the past
// versions that it ended. Transaction 2 ended none, so nothing else changes:
//
//	live   b@2  c@4
//	past   a@2 until 3  a@3 until 4
//	log    3: +a (was a@2)    4: -a (was a@3) +c
//
// Revision 3 can still be viewed, and watched from 3 on; revision 2 is
// compacted. a@2 is in no view any more, but the log still tells it, and it
// goes with its transaction. Compacting to 4 leaves
//
//	live   b@2  c@4
//	past   a@3 until 4
//	log    4: -a (was a@3) +c
//
// and deleting b makes it
//
//	live   c@4
//	past   a@3 until 4  b@2 until 5
//	log    4: -a (was a@3) +c    5: -b (was b@2)
//
// # Replicas
//
// A replica has nothing of its own but the revision that it is at. What it shows
// is the view of that revision, and its watchers read the log up to there. In the
// history above, one that lags by two revisions is at 2 when the store is at 4:
// it shows a@2 and b@2, and a watcher of "a" has +a from 2. The next transaction
// moves it on to 3, and calls the watcher.
//
// # Cost
//
// Keeping the past apart from the live makes what is usual cheap. A put of a new
// key touches two trees, of an existing key three; a read of the present walks
// one; tombstones are nowhere but in the log, so a key that is gone and
// compacted has left no trace. Compaction walks the log, not the store, and does
// for each transaction once what the transaction itself did: a write costs the
// logarithm of what is kept, its later compaction included. A view of an old
// revision costs a walk over the live and the past versions in its range.
//
// The trees are copied on write, a path at a time. Taking a view or a fork copies
// nothing; the first writes after it copy the nodes they change. Writes that
// nobody reads in between change the trees in place.
//
// A watcher holds its position in the log and no events. While it has none to
// deliver, it is one of a group that waits for a prefix. What a write has to do
// for all watchers is to look up each beginning of the key that is as long as
// some group's prefix; a group that waits is woken by closing one channel.
//
// # Limits
//
// Everything is in memory and gone with the process. There are no leases, no
// ranges of keys to watch other than prefixes, and a transaction touches a key
// once, whatever it did on the way. The store runs no goroutines: what [Options]
// say is to expire becomes unreachable in time, but its memory is freed by later
// transactions, a few old ones each, or by [Store.Compact].
package mvcc

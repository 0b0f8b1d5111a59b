// Package mvcc is an ordered in-memory key-value store that keeps its history: each
// revision can be read, and each change can be watched, until it is compacted. It has
// the semantics of etcd v3.6. Values have a type of the caller's choice; the store does
// not read, copy or change them.
//
// # Terms
//
// A transaction puts and deletes keys; it has all of its effects or none. The revision
// of the store counts transactions. An item is one version of a key. Its lifespan starts
// with the put of a key that does not exist and ends with a deletion, which leaves a
// tombstone in the log. A view is the store at one revision. A watcher returns the events
// of the keys with a prefix. It is synced if it has returned all of them, and otherwise
// lagging. Compaction discards the history below a revision, the compacted revision. A
// fork is an independent store that starts as a copy of another one. A replica shows the
// store with a delay, its lag.
//
// # A worked history
//
// A store consists of three trees. The live tree has the newest version of each key that
// exists. The log has the transactions, each with its events and the versions before
// them. The past has the versions that were replaced or deleted, by key and by the
// revision that ended them: it is an index of the log. Written as key@modified, three
// transactions make
//
//	2: put a, put b
//	3: put a
//	4: delete a, put c
//
//	live   b@2  c@4
//	past   a@2 until 3  a@3 until 4
//	log    2: +a +b    3: +a (was a@2)    4: -a (was a@3) +c
//
// A view of the newest revision, 4, is the live tree. A view of revision 3 has the live
// items that are not newer, b@2, and the past versions that had started and not ended,
// a@3. A watcher of "a" from revision 3 reads the log from there: +a, -a.
//
// Compacting to 3 removes the log below 3 and the past versions that its transactions
// ended. Transaction 2 ended none, so nothing else changes:
//
//	live   b@2  c@4
//	past   a@2 until 3  a@3 until 4
//	log    3: +a (was a@2)    4: -a (was a@3) +c
//
// Revision 3 can still be viewed, and watched from 3 on; revision 2 is compacted. a@2 is
// in no view any more, but the log still refers to it; it is removed with transaction 3.
// Compacting to 4 leaves
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
// A replica stores only its revision. It shows the view at that revision, and its
// watchers read the log up to it. In the history above, a replica that lags by two
// revisions is at 2 when the store is at 4: it shows a@2 and b@2, and a watcher of "a"
// has +a from 2. The next transaction moves the replica to 3 and wakes the watcher.
//
// # Cost
//
// Because past and live versions are separate, common operations are cheap. A put of a
// new key changes two trees, of an existing key three. A read of the newest revision
// walks one tree. Tombstones are only in the log, so a deleted key leaves nothing after
// compaction. Compaction walks the log, not the store, and does for each transaction once
// the work that the transaction did: the cost of a write, its later compaction included,
// is logarithmic in the size of the kept history. A view of an old revision walks the
// live and the past versions in its range.
//
// The trees are copied on write, one path at a time. A view or a fork copies nothing; the
// first writes after it copy the nodes that they change. Writes without reads in between
// change the trees in place.
//
// The store remembers the items and the small ranges that were read or written last. To
// read these again costs the hash of a key.
//
// A watcher holds a position in the log and no events. Synced watchers of a prefix form a
// group. A write looks up each prefix of its key whose length some group has, and wakes a
// group by closing one channel.
//
// # Limits
//
// Everything is in memory. There are no leases, and the only ranges that can be watched
// are prefixes. A transaction has at most one event per key. The store runs no
// goroutines: history that expires by [Options] becomes unreachable in time, but its
// memory is freed by later transactions, a few old ones each, or by [Store.Compact] and
// [Store.Trim].
//
// [Options] bound the history by revisions, by age and by bytes. The bytes of the
// history are those of its events and of the values that they replaced or deleted. Each
// transaction in the log has the sum of the bytes before it, so a write does a few
// additions, and the revision with which the history has a given size is found by binary
// search. What else keeps versions in memory is not counted: views, forks, and lagging
// replicas, each of which keeps one version of a key at most.
package mvcc

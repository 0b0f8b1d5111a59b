// Package mvcc is an ordered in-memory key-value store that keeps its history: each
// revision can be read, and each change can be watched, until it is compacted. It has
// the semantics of etcd v3.6. Values have a type of the caller's choice; the store does
// not read, copy or change them.
//
// # Terms
//
// A transaction puts and deletes keys; it has all of its effects or none, and they become
// visible together. The revision of the store counts puts and deletions: the changes of a
// transaction have consecutive revisions. An item is one version of a key. Its lifespan starts
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
// exists. The log has the changes, each with the version before it and with its
// transaction. The past has the versions that were replaced or deleted, by key and by the
// revision that ended them: it is an index of the log. Written as key@modified, three
// transactions make
//
//	2, 3: put a, put b
//	4:    put a
//	5, 6: delete a, put c
//
//	live   b@3  c@6
//	past   a@2 until 4  a@4 until 5
//	log    2: +a  3: +b    4: +a (was a@2)    5: -a (was a@4)  6: +c
//
// A view of the newest revision, 6, is the live tree. A view of revision 4 has the live
// items that are not newer, b@3, and the past versions that had started and not ended,
// a@4. A view of revision 5 has b@3 only: it is in the last transaction, and shows the
// store as if the transaction was two. A watcher of "a" from revision 4 reads the log from
// there: +a, -a. A watcher that has returned -a and is closed is continued from 6.
//
// Compacting to 4 removes the log below 4 and the past versions that its changes
// ended. They ended none, so nothing else changes:
//
//	live   b@3  c@6
//	past   a@2 until 4  a@4 until 5
//	log    4: +a (was a@2)    5: -a (was a@4)  6: +c
//
// Revision 4 can still be viewed, and watched from 4 on; revision 3 is compacted. a@2 is
// in no view any more, but the log still refers to it; it is removed with change 4.
// Compacting to 5 leaves
//
//	live   b@3  c@6
//	past   a@4 until 5
//	log    5: -a (was a@4)  6: +c
//
// and deleting b makes it
//
//	live   c@6
//	past   a@4 until 5  b@3 until 7
//	log    5: -a (was a@4)  6: +c    7: -b (was b@3)
//
// # Replicas
//
// A replica stores only its revision. It shows the view at that revision, and its
// watchers read the log up to it. In the history above, a replica that lags by three
// revisions is at 3 when the store is at 6: it shows a@2 and b@3, and a watcher of "a"
// has +a from 2. The next change moves the replica to 4 and wakes the watcher.
//
// # Cost
//
// Because past and live versions are separate, common operations are cheap. A put of a
// new key changes two trees, of an existing key three. A read of the newest revision
// walks one tree. Tombstones are only in the log, so a deleted key leaves nothing after
// compaction. Compaction walks the log, not the store, and does for each change once
// the work that the change did: the cost of a write, its later compaction included,
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
// are prefixes. The store runs no goroutines: history that expires by [Options] becomes unreachable in time, but its
// memory is freed by later transactions, a few old ones each, or by [Store.Compact] and
// [Store.Trim].
//
// [Options] bound the history by revisions, by age and by bytes. The bytes of the
// history are those of its events and of the values that they replaced or deleted. Each
// change in the log has the sum of the bytes before it, so a write does a few
// additions, and the revision with which the history has a given size is found by binary
// search. What else keeps versions in memory is not counted: views, forks, and lagging
// replicas, each of which keeps one version of a key at most.
package mvcc

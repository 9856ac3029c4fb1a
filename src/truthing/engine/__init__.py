"""How work over items is spread: in memory, streamed from disk, on a cluster.

Every engine holds the labels in shards, an item's labels together in one of them, and runs the same
kernels over them: map a kernel over the shards, and add its results.
"""

// Package warm keeps processes that have ansible-core imported already, and has them fork runs of ansible-playbook.
//
// Such a process is called a zygote. It serves runs whose environment is like its own as far as anything has looked at it
// while it was imported, and as long as no imported file has changed; a [Pool] starts others where need be. Each run is a
// process of its own that gets its arguments, its environment and its descriptors from here, by a socket that its zygote
// does not read. The other side of the protocol is the Python package chartbook_warm.
//
// A run that has started is never started again: only an [UnavailableError] says that it may be run in another way.
package warm

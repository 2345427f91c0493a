// Package journal keeps what ran, and tells people on the same machine what runs and what waits.
//
// It has two halves. [Journal] appends a record to a file when a run begins and when it ends; [Read] takes them in again,
// whether or not the operator lives. [Window] answers on a socket of the file system what only the living operator knows:
// which resources wait for their run, and when others come by themselves; [Ask] asks there.
package journal

// Package status turns what became of a run into the resource's status, and is the only writer of it.
//
// [Compute] is pure: from the status as it is and an [Input] follows the status as it should be, the same bytes
// each time. It touches what is ours alone; conditions and fields of other writers stay as they are, in
// their order. [Writer] sends the difference, as a patch, if there is one.
//
// Ours are the conditions Ready, Reconciling and Stalled as kstatus defines them (Reconciling and Stalled
// are there only while they hold), observedGeneration, run, outputs, and the conditions of the old tool whose
// place a watch takes, with the same reasons and messages as it wrote. Where the old tool contradicted itself
// (a condition False whose reason says that it succeeded) the reason follows the status.
//
// An idle run writes nothing: Running or Successful of the same status and reason is left as it is, as the old tool
// did, and status.run names the last run that changed anything in status.
package status

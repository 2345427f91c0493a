package warm

import (
	"strings"
)

// markName is the variable by which the processes of a run are found. A run process writes its own over that of its zygote,
// which is as long as any may be.
const markName = "CHARTBOOK_RUN"

// maxMark is how long the value of a mark may be, in bytes.
const maxMark = 128

// Mark returns the mark of zygotes as NAME=value, long enough for those of runs to take its place. It is for those who look
// for zygotes that are left.
func Mark(id string) string {
	return markName + "=" + id + strings.Repeat(".", max(0, maxMark-len(id)))
}

// fits reports whether a mark of a run can take the place of a zygote's.
func fits(mark string) bool {
	return strings.HasPrefix(mark, markName+"=") && len(mark) <= len(markName)+1+maxMark
}

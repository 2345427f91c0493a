package plan

import (
	"fmt"
	"time"
)

// Annotations by which a resource sets its own period, the first wins.
var periodAnnotations = []string{
	"ansible.sdk.operatorframework.io/reconcile-period",
	"helm.sdk.operatorframework.io/reconcile-period",
}

// Period returns how long after a good run the next one follows: as the resource's annotations say, else as the watch
// says, else the default. Zero or less means never. A bad annotation is an error that names it; the period is then
// that of the watch or the default.
func Period(annotations map[string]string, watch *time.Duration, byDefault time.Duration) (time.Duration, error) {
	period := byDefault
	if watch != nil {
		period = *watch
	}
	for _, name := range periodAnnotations {
		value, ok := annotations[name]
		if !ok {
			continue
		}
		own, err := time.ParseDuration(value)
		if err != nil {
			return period, fmt.Errorf("annotation %s is %.40q; write a duration like 30s, 10m or 1h", name, value)
		}
		return own, nil
	}
	return period, nil
}

package helm

import (
	"strconv"
)

// prefix of the annotations that the Operator SDK and helm-operator-plugins read from a resource.
const prefix = "helm.sdk.operatorframework.io/"

// options are what a resource's annotations say about how to act.
type options struct {
	force                *bool // make objects anew that cannot be changed; nil where the resource does not say
	rollbackForce        bool  // the same in a rollback
	uninstallWait        bool
	installNoHooks       bool
	upgradeNoHooks       bool
	uninstallNoHooks     bool
	installDescription   string
	upgradeDescription   string
	uninstallDescription string
	ignored              []string // annotations whose value is none of true and false
}

func readOptions(annotations map[string]string) options {
	var o options
	if _, ok := annotations[prefix+"upgrade-force"]; ok {
		force := o.flag(annotations, "upgrade-force")
		o.force = &force
	}
	o.rollbackForce = o.flag(annotations, "rollback-force")
	o.uninstallWait = o.flag(annotations, "uninstall-wait")
	o.installNoHooks = o.flag(annotations, "install-disable-hooks")
	o.upgradeNoHooks = o.flag(annotations, "upgrade-disable-hooks")
	o.uninstallNoHooks = o.flag(annotations, "uninstall-disable-hooks")
	o.installDescription = annotations[prefix+"install-description"]
	o.upgradeDescription = annotations[prefix+"upgrade-description"]
	o.uninstallDescription = annotations[prefix+"uninstall-description"]
	return o
}

// flag reads a boolean; what is none counts as false, as it always did.
func (o *options) flag(annotations map[string]string, name string) bool {
	text, ok := annotations[prefix+name]
	if !ok {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		o.ignored = append(o.ignored, prefix+name)
	}
	return value
}

package watches

import (
	"time"

	"gopkg.in/yaml.v3"
)

// entryKey is a key of a watch: its description, and how to read it.
type entryKey struct {
	KeyDoc
	nested []KeyDoc
	read   func(e *entry, n *yaml.Node, key string)
}

// entryKeys lists the keys of a watch: what is watched and run first, then the common keys, those for Ansible, those for Helm,
// those that refer to other objects, and those that are reserved.
func entryKeys() []entryKey {
	var all []entryKey
	for _, group := range [][]entryKey{identityKeys(), commonKeys(), ansibleKeys(), helmKeys(), referenceKeys(), reservedKeys()} {
		all = append(all, group...)
	}
	return all
}

func identityKeys() []entryKey {
	return []entryKey{
		{KeyDoc: KeyDoc{Key: "group", Type: "text", Default: `""`, Tools: fromBoth, Content: forAll,
			Doc: "The API group of the watched kind; empty for the core group."},
			read: readText(func(w *Watch) *string { return &w.GVK.Group })},
		{KeyDoc: KeyDoc{Key: "version", Type: "text", Default: "required", Tools: fromBoth, Content: forAll,
			Doc: "The API version of the watched kind, like v1alpha1."},
			read: readText(func(w *Watch) *string { return &w.GVK.Version })},
		{KeyDoc: KeyDoc{Key: "kind", Type: "text", Default: "required", Tools: fromBoth, Content: forAll,
			Doc: "The watched kind."},
			read: readText(func(w *Watch) *string { return &w.GVK.Kind })},
		{KeyDoc: KeyDoc{Key: "playbook", Type: "path", Default: "none", Tools: fromAnsible, Content: forAnsible,
			Doc: "The playbook to run, relative to the working directory; it wins over a role beside it."},
			read: readText(func(w *Watch) *string { return &w.Playbook })},
		{KeyDoc: KeyDoc{Key: "role", Type: "path or name", Default: "none", Tools: fromAnsible, Content: forAnsible,
			Doc: "The role to run: a path, a name that is looked up, or namespace.collection.role."},
			read: readText(func(w *Watch) *string { return &w.Role })},
		{KeyDoc: KeyDoc{Key: "chart", Type: "path or address", Default: "none", Tools: fromHelm, Content: forChart,
			Doc: "The chart to install: a directory or a .tgz archive, relative to the working directory, or oci://...@sha256:..."},
			read: readText(func(w *Watch) *string { return &w.Chart })},
	}
}

func commonKeys() []entryKey {
	return []entryKey{
		{KeyDoc: KeyDoc{Key: "reconcilePeriod", Type: "duration", Default: "the flag --reconcile-period", Tools: fromBoth, Content: forAll,
			Doc: "How long after a good run the next one follows; 0s means never."},
			read: readReconcilePeriod},
		{KeyDoc: KeyDoc{Key: "resync", Type: "always or changed", Default: "always", Content: forAll,
			Doc: "What the end of a period and a start of the operator do: run, or run if the resource or the content changed since the last good run."},
			read: readResync},
		{KeyDoc: KeyDoc{Key: "fullResyncPeriod", Type: "duration", Default: "none", Content: forAll,
			Doc: "How long after a good run the next one follows in any case, with resync: changed."},
			read: readPeriod("write 0s for never", func(w *Watch) **time.Duration { return &w.FullResyncPeriod })},
		{KeyDoc: KeyDoc{Key: "schedule", Type: "list", Default: "[]", Content: forAll,
			Doc: "Times at which resources are run."},
			nested: []KeyDoc{
				{Key: "schedule[].name", Type: "text", Default: "required", Content: forAll,
					Doc: "The name of the schedule, which reaches the playbook as chartbook_run.schedule."},
				{Key: "schedule[].cron", Type: "text", Default: "required", Content: forAll,
					Doc: "A cron expression: minute, hour, day of the month, month of the year, day of the week; or @daily and the like."},
				{Key: "schedule[].timeZone", Type: "text", Default: "UTC", Content: forAll,
					Doc: "The time zone of the expression, like Europe/Berlin."},
				{Key: "schedule[].concurrencyPolicy", Type: "Allow, Forbid or Replace", Default: "Allow", Content: forAll,
					Doc: "What becomes of a time that comes during a run of the resource: it follows, it is passed over, or it ends that run."},
			}, read: readSchedules},
		{KeyDoc: KeyDoc{Key: "retry", Type: "mapping", Default: "none", Content: forAll,
			Doc: "How a failed run is repeated."},
			nested: []KeyDoc{
				{Key: "retry.limit", Type: "integer", Default: "any number", Content: forAll,
					Doc: "How often a failed run is repeated; then the resource is Stalled until its spec changes or someone asks for a run."},
				{Key: "retry.backoff", Type: "duration", Default: "1s", Content: forAll,
					Doc: "The wait before the first repetition; it doubles with each."},
				{Key: "retry.maxBackoff", Type: "duration", Default: "5m", Content: forAll,
					Doc: "The longest wait."},
			}, read: readRetry},
		{KeyDoc: KeyDoc{Key: "timeout", Type: "duration", Default: "none", Content: forAll,
			Doc: "The deadline of one run; what has not ended by then is ended, with reason DeadlineExceeded."},
			read: readPeriod("write 0s for no deadline", func(w *Watch) **time.Duration { return &w.Timeout })},
		{KeyDoc: KeyDoc{Key: "manageStatus", Type: "boolean", Default: "true", Tools: fromAnsible, Content: forAll,
			Doc: "Whether the resource's status is written."},
			read: readBool(func(w *Watch) *bool { return &w.ManageStatus })},
		{KeyDoc: KeyDoc{Key: "watchDependentResources", Type: "boolean", Default: "true", Tools: fromBoth, Content: forAll,
			Doc: "Whether a change of an object that a run made starts the next run."},
			read: readBool(func(w *Watch) *bool { return &w.WatchDependentResources })},
		{KeyDoc: KeyDoc{Key: "watchClusterScopedResources", Type: "boolean", Default: "false; true for a chart", Tools: fromAnsible, Content: forAll,
			Doc: "Whether that holds for cluster-scoped objects too."},
			read: readBool(func(w *Watch) *bool { return &w.WatchClusterScopedResources })},
		{KeyDoc: KeyDoc{Key: "watchAnnotationsChanges", Type: "boolean", Default: "false", Tools: fromAnsible, Content: forAll,
			Doc: "Whether a change of the resource's annotations starts a run."},
			read: readBool(func(w *Watch) *bool { return &w.WatchAnnotationsChanges })},
		{KeyDoc: KeyDoc{Key: "blacklist", Type: "list of kinds", Default: "[]", Tools: fromAnsible, Content: forAll,
			Doc: "Kinds of objects that runs make and that are neither owned nor watched."},
			nested: []KeyDoc{
				{Key: "blacklist[].group", Type: "text", Default: `""`, Tools: fromAnsible, Content: forAll,
					Doc: "The API group of the kind."},
				{Key: "blacklist[].version", Type: "text", Default: "required", Tools: fromAnsible, Content: forAll,
					Doc: "The API version of the kind."},
				{Key: "blacklist[].kind", Type: "text", Default: "required", Tools: fromAnsible, Content: forAll,
					Doc: "The kind."},
			}, read: readBlacklist},
		{KeyDoc: KeyDoc{Key: "selector", Type: "label selector", Default: "everything", Tools: fromBoth, Content: forAll,
			Doc: "Which resources of the kind are watched, by label."},
			nested: []KeyDoc{
				{Key: "selector.matchLabels", Type: "mapping", Default: "{}", Tools: fromBoth, Content: forAll,
					Doc: "Labels that the resource must have."},
				{Key: "selector.matchExpressions", Type: "list", Default: "[]", Tools: fromBoth, Content: forAll,
					Doc: "Conditions on labels: key, operator (In, NotIn, Exists, DoesNotExist) and values."},
			}, read: readSelector},
		triggerKey(),
		{KeyDoc: KeyDoc{Key: "maxConcurrentReconciles", Type: "integer", Default: "the flag --max-concurrent-reconciles", Tools: fromHelm, Content: forAll,
			Doc: "How many resources of the kind are worked on at one time."},
			read: readConcurrency},
	}
}

func ansibleKeys() []entryKey {
	return []entryKey{
		{KeyDoc: KeyDoc{Key: varsKey, Type: "mapping", Default: "{}", Tools: fromAnsible, Content: forAnsible,
			Doc: "Extra variables for every run; they win over the resource's spec, and Ansible evaluates Jinja in them."},
			read: readVars},
		{KeyDoc: KeyDoc{Key: "maxRunnerArtifacts", Type: "integer", Default: "20", Tools: fromAnsible, Content: forAnsible,
			Doc: "How many runs' artifacts are kept per resource; 0 means the default, a negative number all."},
			read: readArtifacts},
		{KeyDoc: KeyDoc{Key: "snakeCaseParameters", Type: "boolean", Default: "true", Tools: fromAnsible, Content: forAnsible,
			Doc: "Whether the keys of the spec are turned to snake_case."},
			read: readBool(func(w *Watch) *bool { return &w.SnakeCaseParameters })},
		{KeyDoc: KeyDoc{Key: "markUnsafe", Type: "boolean", Default: "false", Tools: fromAnsible, Content: forAnsible,
			Doc: "Whether Ansible is kept from evaluating Jinja in the values of a resource."},
			read: readBool(func(w *Watch) *bool { return &w.MarkUnsafe })},
		{KeyDoc: KeyDoc{Key: "allowReservedVariables", Type: "boolean", Default: "false", Content: forAnsible,
			Doc: "Whether a spec may set Ansible's own variables, whose names begin with ansible_."},
			read: readBool(func(w *Watch) *bool { return &w.AllowReservedVariables })},
		{KeyDoc: KeyDoc{Key: "finalizer", Type: "mapping", Default: "none", Tools: fromAnsible, Content: forAnsible,
			Doc: "What runs when a resource is deleted, before it goes; without playbook and role the watch's own content runs."},
			nested: []KeyDoc{
				{Key: "finalizer.name", Type: "text", Default: "required", Tools: fromAnsible, Content: forAnsible,
					Doc: "The finalizer that is put on resources, like example.com/cleanup."},
				{Key: "finalizer.playbook", Type: "path", Default: "none", Tools: fromAnsible, Content: forAnsible,
					Doc: "The playbook that cleans up."},
				{Key: "finalizer.role", Type: "path or name", Default: "none", Tools: fromAnsible, Content: forAnsible,
					Doc: "The role that cleans up."},
				{Key: "finalizer.vars", Type: "mapping", Default: "{}", Tools: fromAnsible, Content: forAnsible,
					Doc: "Extra variables for the cleaning run; they win over the watch's."},
			}, read: readFinalizer},
		{KeyDoc: KeyDoc{Key: gatherFactsKey, Type: "boolean or list of subsets", Default: "true, unless ANSIBLE_GATHERING is explicit", Content: forAnsible,
			Doc: "Which facts about its machine a role's play gathers first, like [min]; plays of a playbook say so themselves."},
			read: readGatherFacts},
		{KeyDoc: KeyDoc{Key: "executor", Type: "warm, direct or runner", Default: "the flag --ansible-executor", Content: forAnsible,
			Doc: "How a playbook is run: in a fork of a process that has Ansible loaded, by ansible-playbook itself or by ansible-runner; job is reserved."},
			read: readExecutor},
	}
}

func helmKeys() []entryKey {
	return []entryKey{
		{KeyDoc: KeyDoc{Key: overrideValuesKey, Type: "mapping", Default: "{}", Tools: fromHelm, Content: forChart,
			Doc: "Values that win over the resource's spec, in the syntax of Helm's --set, with environment variables and templates."},
			read: func(e *entry, n *yaml.Node, key string) { e.watch.OverrideValues = e.readOverrides(n, key) }},
		{KeyDoc: KeyDoc{Key: "dryRunOption", Type: "text", Default: `""`, Tools: fromHelm, Content: forChart,
			Doc: "Read for compatibility; lookup sees the cluster always."},
			read: readText(func(w *Watch) *string { return &w.DryRunOption })},
		{KeyDoc: KeyDoc{Key: "maxHistory", Type: "integer", Default: "10", Content: forChart,
			Doc: "How many revisions of a release are kept; 0 keeps all."},
			read: readHistory},
		{KeyDoc: KeyDoc{Key: "wait", Type: "boolean", Default: "false", Content: forChart,
			Doc: "Whether a resource is Ready only when the objects of its release are."},
			read: readBool(func(w *Watch) *bool { return &w.Wait })},
		{KeyDoc: KeyDoc{Key: "generateOnce", Type: "boolean", Default: "false", Content: forChart,
			Doc: "Whether values that templates make up, like passwords and certificates, stay from one revision to the next."},
			read: readBool(func(w *Watch) *bool { return &w.GenerateOnce })},
		{KeyDoc: KeyDoc{Key: "drift", Type: "off, detect or correct", Default: "correct", Content: forChart,
			Doc: "What happens when an object of a release was changed or deleted: nothing, a condition tells, or it is put right."},
			read: readDrift},
		upgradeKey(),
		{KeyDoc: KeyDoc{Key: "crds", Type: "Skip, Create or Replace", Default: "Create", Content: forChart,
			Doc: "What an install or upgrade does about the chart's CRDs; none is ever deleted."},
			read: readCRDs},
		{KeyDoc: KeyDoc{Key: "chartPullSecret", Type: "mapping", Default: "none", Content: forChart,
			Doc: "The Secret of type kubernetes.io/dockerconfigjson that the chart's registry wants."},
			nested: []KeyDoc{
				{Key: "chartPullSecret.name", Type: "text", Default: "required", Content: forChart, Doc: "The name of the Secret."},
				{Key: "chartPullSecret.namespace", Type: "text", Default: "the operator's", Content: forChart, Doc: "The namespace of the Secret."},
			}, read: readPullSecret},
		{KeyDoc: KeyDoc{Key: "adopt", Type: "boolean", Default: "false", Content: forChart,
			Doc: "Whether objects that exist already and belong to nobody are taken over."},
			read: readBool(func(w *Watch) *bool { return &w.Adopt })},
		{KeyDoc: KeyDoc{Key: releaseNamespaceKey, Type: "template", Default: "the resource's", Content: forChart,
			Doc: "The namespace of releases; a cluster-scoped kind needs it."},
			read: func(e *entry, n *yaml.Node, key string) { e.watch.ReleaseNamespace = e.readReleaseNamespace(n, key) }},
	}
}

func reservedKeys() []entryKey {
	reserve := func(key, kind string, content []string, doc string) entryKey {
		return entryKey{KeyDoc: KeyDoc{Key: key, Type: kind, Default: "none", Content: content, Doc: doc, NotYet: true}, read: notYet}
	}
	return []entryKey{
		reserve("serviceAccountName", "text", forAll, "The account whose rights a run has."),
		reserve("postRender", "mapping", forChart, "What is changed in the rendered objects."),
	}
}

package watches

// Related names objects that a resource refers to: one by name, or those that a selector chooses. A run gets them as a
// variable, and a change of them starts a run.
type Related struct {
	APIVersion string
	Kind       string
	// Name of the object; zero when Selector is set.
	Name Template
	// Selector chooses objects by label; nil when Name is set.
	Selector *RelatedSelector
	// Namespace of the objects. Zero means that of the resource. One that is written out may be any; what a
	// resource's author can choose must come to the resource's own.
	Namespace Template
	// As names the variable, or the key of a chart's values.
	As string
	// Optional lets a run go on without the object. Default false.
	Optional bool
	// WatchStatus says that a change of the object's status starts a run, too. Default false.
	WatchStatus bool
}

// RelatedSelector is a label selector whose values may hold fields of the resource.
type RelatedSelector struct {
	MatchLabels      map[string]Template
	MatchExpressions []RelatedExpression
}

// RelatedExpression is one condition on a label.
type RelatedExpression struct {
	Key      string
	Operator string // In, NotIn, Exists or DoesNotExist
	Values   []Template
}

// Source takes variables or values from a Secret or ConfigMap.
type Source struct {
	// Secret says that it is a Secret, else it is a ConfigMap.
	Secret bool
	// Name of the object, and its namespace; see [Related].
	Name      Template
	Namespace Template
	// Key to take; zero for all of them, as a mapping.
	Key Template
	// Optional lets a run go on without the object or key. Default false.
	Optional bool
	// As names the variable of a playbook or role.
	As string
	// TargetPath is where a chart's values get it. Nil means that the key holds values as a YAML document.
	TargetPath []string
}

// SecretKey is one key of a Secret.
type SecretKey struct {
	Name      Template
	Namespace Template // see [Related]
	Key       Template
}

// Refers reports whether resources refer to other objects.
func (w Watch) Refers() bool {
	return len(w.Related) > 0 || len(w.VarsFrom) > 0 || len(w.ValuesFrom) > 0 || w.VaultPassword != nil
}

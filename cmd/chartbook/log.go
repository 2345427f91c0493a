package main

import (
	"io"
	"log"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// newLog returns the log that the --zap flags ask for, on out. It is what controller-runtime makes of them, with two
// differences: no line is dropped, where controller-runtime samples lines with equal messages, as the tasks of plays
// have; and lines about runs have no stack trace, for it would be one of ours.
func newLog(o zap.Options, out io.Writer) logr.Logger {
	level, stacks := zapcore.InfoLevel, zapcore.ErrorLevel
	encoderConfig, encoder := uberzap.NewProductionEncoderConfig(), zapcore.NewJSONEncoder
	if o.Development {
		level, stacks = zapcore.DebugLevel, zapcore.WarnLevel
		encoderConfig, encoder = uberzap.NewDevelopmentEncoderConfig(), zapcore.NewConsoleEncoder
	}
	if o.Level == nil {
		o.Level = level
	}
	if o.StacktraceLevel == nil {
		o.StacktraceLevel = stacks
	}
	encoderConfig.EncodeTime = o.TimeEncoder
	chosen := encoder(encoderConfig)
	if o.NewEncoder != nil {
		chosen = o.NewEncoder(func(c *zapcore.EncoderConfig) { c.EncodeTime = o.TimeEncoder })
	}
	sink := zapcore.Lock(zapcore.AddSync(out))
	core := zapcore.NewCore(&zap.KubeAwareEncoder{Encoder: chosen, Verbose: o.Development}, sink, o.Level)
	options := []uberzap.Option{uberzap.ErrorOutput(sink), uberzap.AddStacktrace(o.StacktraceLevel)}
	return zapr.NewLogger(uberzap.New(withoutStacks{core}, options...))
}

// Loggers whose lines have no stack trace: what they tell is no fault of the operator.
var withoutStack = []string{"runner", endLogger}

// endLogger says why the operator ended.
const endLogger = "main"

// withoutStacks takes the stack traces from lines of the loggers in withoutStack.
type withoutStacks struct{ zapcore.Core }

// With implements [zapcore.Core].
func (c withoutStacks) With(fields []zapcore.Field) zapcore.Core {
	return withoutStacks{c.Core.With(fields)}
}

// Check implements [zapcore.Core].
func (c withoutStacks) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements [zapcore.Core].
func (c withoutStacks) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	for _, name := range withoutStack {
		if entry.LoggerName == name || strings.HasPrefix(entry.LoggerName, name+".") {
			entry.Stack = ""
		}
	}
	return c.Core.Write(entry, fields)
}

// adopt has libraries write into our log: controller-runtime, client-go, and those that use Go's own log package, such
// as the HTTP servers and Helm.
func adopt(ours logr.Logger) {
	ctrl.SetLogger(ours)
	klog.SetLogger(ours.WithName("client-go"))
	log.SetFlags(0)
	log.SetOutput(adopted{ours.WithName("library")})
}

// adopted makes a line of the log of each message of Go's log package.
type adopted struct{ log logr.Logger }

// Write implements [io.Writer]. The log package calls it once for each message.
func (a adopted) Write(message []byte) (int, error) {
	a.log.Info(strings.TrimSpace(string(message)))
	return len(message), nil
}

// forPeople reports whether what goes to file is read by people as it comes, and not by a collector of logs.
func forPeople(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

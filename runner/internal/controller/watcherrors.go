package controller

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
)

// watchErrors tells of watches that fail, each cause once: an informer tries again for ever, and so would its log.
type watchErrors struct {
	log  logr.Logger
	mu   sync.Mutex
	told map[string]string // kind -> what was said last
}

func newWatchErrors(log logr.Logger) *watchErrors {
	return &watchErrors{log: log, told: map[string]string{}}
}

// handle is called whenever a list or watch ends with an error.
func (w *watchErrors) handle(_ context.Context, r *toolscache.Reflector, err error) {
	if err == nil || errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return // the ordinary end of a watch
	}
	kind := r.TypeDescription()
	w.mu.Lock()
	known := w.told[kind] == err.Error()
	w.told[kind] = err.Error()
	w.mu.Unlock()
	if known {
		return
	}
	if apierrors.IsForbidden(err) {
		w.log.Error(err, "Forbidden to watch resources; grant get, list and watch", "kind", kind)
		return
	}
	w.log.Info("A watch ended and is started again", "kind", kind, "cause", err.Error())
}

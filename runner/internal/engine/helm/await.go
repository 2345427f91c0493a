package helm

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/resource"
)

// pause is how long to wait before asking again where watching is not possible or has been cut off.
const pause = time.Second

// verdict looks at an object, nil when there is none, and says whether the wait is over and how.
type verdict func(obj *unstructured.Unstructured) (done bool, err error)

// await returns when judge is content, timeout is over or the run ends.
func (c *client) await(info *resource.Info, timeout time.Duration, judge verdict) error {
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	helper := resource.NewHelper(info.Client, info.Mapping)
	for {
		live, err := get(helper, info)
		if err == nil {
			if done, err := judge(live); done || err != nil {
				return err
			}
			done, err := follow(ctx, helper, info, live, judge)
			if done || err != nil {
				return err
			}
		} else if !worthRepeating(err) {
			return fmt.Errorf("wait for %s: %w", title(info, c.Namespace), err)
		}
		select {
		case <-ctx.Done():
			if ended := c.ctx.Err(); ended != nil {
				return ended
			}
			return fmt.Errorf("%s has not ended within %s: %w", title(info, c.Namespace), timeout, errWaited)
		case <-time.After(pause):
		}
	}
}

var errWaited = errors.New("timed out")

// get returns the live object, or nil when there is none.
func get(helper *resource.Helper, info *resource.Info) (*unstructured.Unstructured, error) {
	obj, err := helper.Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	live, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("the API server answered with a %T: %w", obj, errAnswer)
	}
	return live, nil
}

var errAnswer = errors.New("no object")

// follow watches an object until judge is content. It reports false when the watch is over before that, or is not
// possible at all.
func follow(ctx context.Context, helper *resource.Helper, info *resource.Info, live *unstructured.Unstructured, judge verdict) (bool, error) {
	if live == nil {
		return false, nil
	}
	events, err := helper.WatchSingle(info.Namespace, info.Name, live.GetResourceVersion())
	if err != nil {
		return false, nil // the caller asks again after a pause
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case event, open := <-events.ResultChan():
			if !open || event.Type == watch.Error {
				return false, nil
			}
			obj, _ := event.Object.(*unstructured.Unstructured)
			if event.Type == watch.Deleted {
				obj = nil
			}
			if done, err := judge(obj); done || err != nil {
				return done, err
			}
		}
	}
}

// worthRepeating reports whether a request may succeed when it is sent again.
func worthRepeating(err error) bool {
	return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !errors.Is(err, errAnswer) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

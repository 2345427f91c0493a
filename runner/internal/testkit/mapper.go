package testkit

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Mapper returns a RESTMapper that asks the API server, as a manager's does.
func Mapper(tb testing.TB, config *rest.Config) meta.RESTMapper {
	tb.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		tb.Fatal(err)
	}
	return mapper
}

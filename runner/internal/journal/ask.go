package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
)

// ErrNobody says that no operator lives that could be asked.
var ErrNobody = errors.New("no operator is running there")

// Ask asks the operator that holds a private directory. The error is [ErrNobody] if there is none.
func Ask(ctx context.Context, private string) (Live, error) {
	address, held, err := socketIn(filepath.Join(private, subdirectory))
	if err != nil {
		return Live{}, nobody(err)
	}
	defer func() { _ = held.Close() }()
	client := http.Client{Timeout: answerTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, address.Net, address.Name)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://operator/", nil)
	if err != nil {
		return Live{}, fmt.Errorf("ask the operator what runs: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return Live{}, nobody(err)
	}
	defer func() { _ = response.Body.Close() }()
	var live Live
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&live); err != nil {
		return Live{}, fmt.Errorf("ask the operator what runs: %w", err)
	}
	if live.Format != format {
		return Live{}, fmt.Errorf("the operator answers in format %d, and this program reads format %d; use the operator's own program", live.Format, format)
	}
	return live, nil
}

// nobody tells that nobody listens from other errors.
func nobody(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return ErrNobody
	}
	return fmt.Errorf("ask the operator what runs: %w", err)
}

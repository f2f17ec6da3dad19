// The client: each file is one request on a stream of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func fetch(options *options) error {
	if len(options.urls) == 0 {
		return errors.New("no URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), options.timeout())
	defer cancel()
	server, err := net.ResolveUDPAddr("udp", options.urls[0].Host)
	if err != nil {
		return err
	}
	config, err := options.tls()
	if err != nil {
		return err
	}
	config.ServerName = options.urls[0].Hostname()
	transport, err := newTransport(server)
	if err != nil {
		return err
	}
	defer transport.Close()
	settings := options.quic()
	batches := options.batches()
	for index, batch := range batches {
		early := index > 0 && options.has("early-data")
		dial := transport.Dial
		if early {
			dial = transport.DialEarly
		}
		connection, err := dial(ctx, server, config, settings)
		if err != nil {
			return err
		}
		if options.has("migrate") {
			go func() {
				if err := migrate(ctx, connection, server); err != nil {
					fmt.Fprintln(os.Stderr, "migrate:", err)
				}
			}()
		}
		if options.values["alpn"] == "h3" {
			err = fetchHTTP(ctx, options, connection, batch)
		} else {
			err = fetchHQ(ctx, options, connection, batch)
		}
		if err != nil {
			return err
		}
		if index+1 < len(batches) && !options.has("each") {
			// The ticket comes after the handshake; here all data has come as well.
			time.Sleep(connection.ConnectionStats().SmoothedRTT)
		}
		code := quic.ApplicationErrorCode(0)
		if options.values["alpn"] == "h3" {
			code = quic.ApplicationErrorCode(http3.ErrCodeNoError)
		}
		if err := connection.CloseWithError(code, ""); err != nil {
			return err
		}
		if early && !connection.ConnectionState().Used0RTT {
			return errors.New("0-RTT was not used")
		}
	}
	return nil
}

func newTransport(server *net.UDPAddr) (*quic.Transport, error) {
	network := "udp6"
	if server.IP.To4() != nil {
		network = "udp4"
	}
	socket, err := net.ListenUDP(network, nil)
	if err != nil {
		return nil, err
	}
	return &quic.Transport{Conn: socket, ConnectionIDLength: 8}, nil
}

// Probes another local port and moves there.
func migrate(ctx context.Context, connection *quic.Conn, server *net.UDPAddr) error {
	select {
	case <-connection.HandshakeComplete():
	case <-ctx.Done():
		return ctx.Err()
	}
	time.Sleep(midway)
	transport, err := newTransport(server)
	if err != nil {
		return err
	}
	way, err := connection.AddPath(transport)
	if err != nil {
		return err
	}
	if err := way.Probe(ctx); err != nil {
		return err
	}
	return way.Switch()
}

// Asks for all, then waits for all: so that all requests can go in 0-RTT packets.
func fetchHQ(ctx context.Context, options *options, connection *quic.Conn, urls []*url.URL) error {
	results := make(chan error, len(urls))
	for _, one := range urls {
		stream, err := connection.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stream, "GET %s\r\n", one.Path); err != nil {
			return err
		}
		if err := stream.Close(); err != nil {
			return err
		}
		go func() { results <- save(options, one, stream) }()
	}
	return wait(ctx, results, len(urls))
}

func fetchHTTP(ctx context.Context, options *options, connection *quic.Conn, urls []*url.URL) error {
	client := (&http3.Transport{}).NewClientConn(connection)
	results := make(chan error, len(urls))
	for _, one := range urls {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, one.String(), nil)
		if err != nil {
			return err
		}
		go func() {
			response, err := client.RoundTrip(request)
			if err != nil {
				results <- err
				return
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				results <- fmt.Errorf("%s: %s", one.Path, response.Status)
				return
			}
			results <- save(options, one, response.Body)
		}()
	}
	return wait(ctx, results, len(urls))
}

func wait(ctx context.Context, results chan error, count int) error {
	for range count {
		select {
		case err := <-results:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func save(options *options, one *url.URL, body io.Reader) error {
	file, err := os.Create(filepath.Join(options.values["out"], path.Base(one.Path)))
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, body); err != nil {
		return err
	}
	return file.Close()
}

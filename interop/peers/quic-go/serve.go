// The server: each stream is a request for one file.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const maxRequest = 4096

func serve(options *options) error {
	config, err := options.tls()
	if err != nil {
		return err
	}
	address, err := net.ResolveUDPAddr("udp", options.values["listen"])
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", address)
	if err != nil {
		return err
	}
	transport := &quic.Transport{
		Conn:                socket,
		ConnectionIDLength:  8,
		VerifySourceAddress: func(net.Addr) bool { return options.has("retry") },
	}
	listener, err := transport.ListenEarly(config, options.quic())
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr())
	if options.values["alpn"] == "h3" {
		server := &http3.Server{Handler: http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
			file, found := options.file(request.URL.Path)
			if !found {
				http.NotFound(answer, request)
				return
			}
			http.ServeFile(answer, request, file)
		})}
		return server.ServeListener(listener)
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			for {
				stream, err := connection.AcceptStream(context.Background())
				if err != nil {
					return
				}
				go func() {
					if err := answer(options, stream); err != nil {
						fmt.Fprintln(os.Stderr, "stream:", err)
					}
				}()
			}
		}()
	}
}

// One request of hq-interop: "GET /NAME", answered with the bytes of the file.
func answer(options *options, stream *quic.Stream) error {
	request, err := io.ReadAll(io.LimitReader(stream, maxRequest))
	if err != nil {
		return err
	}
	path, isGet := strings.CutPrefix(strings.TrimRight(string(request), " \r\n"), "GET ")
	name, found := options.file(path)
	if !isGet || !found {
		stream.CancelWrite(1)
		return fmt.Errorf("no file for %q", request)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(stream, file); err != nil {
		return err
	}
	return stream.Close()
}

"""Why a connection could not be made or was closed: TLS, resolvers, close codes, empty errors."""

import asyncio
import contextlib
import errno
import os
import re
import shutil
import socket
import ssl
import subprocess

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from websockets.asyncio.server import serve

from mjbot.play.client.play import Settings, connect
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import (
    ClosedError,
    HandshakeError,
    RefusedError,
    UnreachableError,
    VanishedError,
    system_message,
)
from mjbot.protocol.transports.websocket import connect_websocket

HOST = "127.0.0.1"
SCHEMES = pytest.mark.parametrize("scheme", ["wss", "tenhou+wss"])
PATHS = {"wss": "ws", "ws": "ws", "tenhou+wss": "0?type=9", "tenhou+ws": "0?type=9"}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Certificates with their keys, by what is wrong with them."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine")
    folder = tmp_path_factory.mktemp("certificates")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    def request(name, host, *more):
        subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{host}"]
        openssl("req", *more, *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", *subject)

    def issue(name, *how):
        options = ["-copy_extensions", "copy", "-out", f"{name}-new.pem"]
        openssl("x509", "-req", "-in", f"{name}.pem", *how, *options)
        (folder / f"{name}-new.pem").replace(folder / f"{name}.pem")

    request("self-signed", "localhost", "-x509")
    request("other-host", "other.example", "-x509")
    request("expired", "localhost")
    issue("expired", "-signkey", "expired.key", "-days", "-1")
    request("issuer", "issuer.example", "-x509")
    request("issued", "localhost")
    issue("issued", "-CA", "issuer.pem", "-CAkey", "issuer.key", "-CAcreateserial")
    return folder


def tls(folder, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


async def idle(connection):
    await connection.wait_closed()


@contextlib.asynccontextmanager
async def at_server(scheme, context=None, handler=idle):
    """Serve WebSockets; yield the URL."""
    async with serve(handler, HOST, 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"{scheme}://localhost:{port}/{PATHS[scheme]}"


async def failure(url):
    """Return the error of a connection that cannot be made."""
    with pytest.raises(UnreachableError) as caught:
        await connect(Settings(parse_address(url)))
    return caught.value


# --- TLS -----------------------------------------------------------------------------------------


@SCHEMES
@pytest.mark.parametrize(
    ("name", "trusted", "problem"),
    [
        ("self-signed", None, "the TLS certificate is self-signed; .*SSL_CERT_FILE"),
        ("self-signed", "issuer", "the TLS certificate is self-signed; .*SSL_CERT_FILE"),
        ("issued", None, "the TLS certificate has an issuer that .* SSL_CERT_FILE"),
        ("expired", "expired", "the TLS certificate has expired; "),
        ("other-host", "other-host", "is for another host .*'localhost'.*; name a host of"),
        ("self-signed", "missing", "SSL_CERT_FILE is /.*missing.pem, which is no file"),
    ],
)
def test_a_certificate_that_is_not_valid_is_refused_with_the_cause_and_the_cure(
    certificates, monkeypatch, scheme, name, trusted, problem
):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / f"{trusted}.pem"))

    async def main():
        async with at_server(scheme, tls(certificates, name)) as url:
            return await failure(url)

    error = asyncio.run(main())
    assert isinstance(error, RefusedError)
    assert re.search(problem, str(error)), error
    assert "not permitted" not in str(error)


@SCHEMES
@pytest.mark.parametrize(
    ("name", "trusted"), [("self-signed", "self-signed"), ("issued", "issuer")]
)
def test_ssl_cert_file_is_the_cure_for_an_own_certificate(
    certificates, monkeypatch, scheme, name, trusted
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / f"{trusted}.pem"))

    async def main():
        async with (
            at_server(scheme, tls(certificates, name)) as url,
            await connect(Settings(parse_address(url))),
        ):
            return True

    assert asyncio.run(main())


async def greeting(reader, writer):
    """Speak first and without TLS, as the original server does."""
    writer.write(b'{"type":"hello"}\n')
    await reader.read()
    writer.close()


async def closing(reader, writer):
    """Close the connection over what is no line of one's own, as another endpoint does."""
    await reader.read(1)
    writer.close()


async def resetting(reader, writer):
    writer.transport.abort()


@SCHEMES
@pytest.mark.parametrize(
    ("server", "kind", "problem"),
    [
        (greeting, RefusedError, "does not use TLS at this port; use ws:// instead of wss://"),
        (closing, HandshakeError, "closed the connection during the TLS handshake; .*use ws://"),
        (resetting, HandshakeError, "closed the connection during the TLS handshake; .*use ws://"),
    ],
)
def test_a_port_without_tls_is_named(scheme, server, kind, problem):
    async def main():
        async with await asyncio.start_server(server, HOST, 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            return await failure(f"{scheme}://{HOST}:{port}/{PATHS[scheme]}")

    error = asyncio.run(main())
    assert type(error) is kind and re.search(problem, str(error)), error


@pytest.mark.parametrize("scheme", ["ws", "tenhou+ws"])
def test_a_port_with_tls_is_named_where_the_url_has_none(certificates, scheme):
    async def main():
        async with at_server(scheme, tls(certificates, "self-signed")) as url:
            return await failure(url)

    error = asyncio.run(main())
    assert type(error) is HandshakeError and "use wss:// instead of ws://" in str(error)


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        ("foo://ann:SECRET@127.0.0.1:9", "scheme foo isn't supported"),
        ("socks5://ann:SECRET@127.0.0.1:9", "python-socks"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_and_its_password_not_printed(
    monkeypatch, proxy, problem
):
    for name in ("https_proxy", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    error = asyncio.run(failure("wss://game.example/ws"))
    assert isinstance(error, RefusedError)
    assert "https_proxy" in str(error) and problem in str(error) and "SECRET" not in str(error)


# --- errors whose numbers are not the system's, or that have no text -----------------------------

KEY = ConnectionKey("game.example", 443, True, True, None, None, None)
SELF_SIGNED = ssl.SSLCertVerificationError(1, "certificate verify failed")
SELF_SIGNED.verify_code = 18
NAME = socket.gaierror(8, "nodename nor servname provided, or not known")  # macOS's number


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('::1', 1)"), "refused"),
        (NAME, "nodename nor servname"),
        (socket.gaierror(), "the name of the host cannot be resolved"),
        (socket.herror(1, "Unknown host"), "Unknown host"),
        (ssl.SSLError(1, "[SSL] some library (_ssl.c:1)"), "TLS failed: "),
        (ssl.SSLError(), "TLS failed: no cause was given"),
        (ssl.SSLError("a text"), "TLS failed: a text"),
        (ssl.SSLEOFError(8, "EOF occurred"), "during the TLS handshake"),
        (SELF_SIGNED, "self-signed"),
        (aiohttp.ClientConnectorError(KEY, NAME), "nodename nor servname"),
        (aiohttp.ClientConnectorCertificateError(KEY, SELF_SIGNED), "self-signed"),
        (aiohttp.ClientOSError(errno.ECONNRESET, "x"), os.strerror(errno.ECONNRESET)),
        (aiohttp.ServerDisconnectedError(), "Server disconnected"),
        (aiohttp.ServerTimeoutError(), "server timeout"),
        (ConnectionResetError(), "connection reset"),
        (BrokenPipeError(), "broken pipe"),
        (OSError(), "system error"),
        (TimeoutError(), "timeout"),
        (
            OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0), "
                    "[Errno 111] Connect call failed ('127.0.0.1', 1)"),
            os.strerror(111),
        ),
    ],
)  # fmt: skip
def test_the_cause_of_a_failed_connection_is_never_empty_nor_that_of_another_table(error, text):
    message = system_message(error)
    assert text in message
    assert os.strerror(1) not in message and os.strerror(8) not in message


# --- the codes with which a server closes --------------------------------------------------------


@pytest.mark.parametrize("scheme", ["ws", "tenhou+ws"])
@pytest.mark.parametrize("sends", [False, True])
@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        (1000, "", "the other side closed the connection"),
        (1000, "all played", "the other side closed the connection: all played"),
        (1001, "", "the other side closed the connection: 1001 (going away)"),
        (1008, "bad token", "the server refuses us: 1008 (policy violation), bad token"),
        (1012, "", "the other side closed the connection: 1012 (service restart)"),
        (1013, "later\x1b[2J\n", r"the other side closed the connection: 1013 (try again later), "
         r"later\x1b[2J "),
        (3000, "no", "the other side closed the connection: 3000, no"),
        (4001, "東" * 40, f"the server refuses us: 4001, {'東' * 40}"),
    ],
)  # fmt: skip
def test_code_and_reason_of_a_close_are_part_of_the_error(scheme, sends, code, reason, text):
    async def close(connection):
        await connection.close(code, reason)

    async def main():
        async with (
            at_server(scheme, handler=close) as url,
            await connect(Settings(parse_address(url))) as transport,
        ):
            with pytest.raises(VanishedError) as caught:
                if not sends:
                    await transport.receive()
                while True:
                    await transport.send(b"{}")
                    await asyncio.sleep(0)
            return caught.value

    error = asyncio.run(main())
    assert str(error) == text
    assert isinstance(error, ClosedError)
    assert error.is_refusal is (code in (1008, 4001))
    assert error.invites_return is (code in (1012, 1013))


def test_a_connection_that_breaks_without_a_close_has_no_code():
    async def cut(connection):
        connection.transport.abort()

    async def main():
        async with serve(cut, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with await connect_websocket(f"ws://{HOST}:{port}/", use_proxy=False) as it:
                with pytest.raises(VanishedError) as caught:
                    await it.receive()
                return caught.value

    error = asyncio.run(main())
    assert type(error) is VanishedError and str(error) == "the other side closed the connection"

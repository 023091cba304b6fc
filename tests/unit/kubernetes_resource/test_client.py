"""The client over real TLS, and the access to EKS."""

import base64
import contextlib
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import botocore.session
import pytest
from botocore.stub import Stubber
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from cluster_resource.aws_api import ApiError
from cluster_resource.aws_api import Kind as AwsKind
from cluster_resource.errors import PendingError
from kubernetes_resource.client import METADATA_TYPE, HttpsTransport, KubernetesClient
from kubernetes_resource.eks_access import EksAccess, EksCluster, eks_access
from kubernetes_resource.errors import Kind, KubernetesError
from tests.unit.kubernetes_resource.api_server import TOKEN, ApiServer

NAMESPACE = "/api/v1/namespaces/default"


class Authority:
    """A certificate authority as EKS creates it: without key identifiers."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        self._certificate = _builder(self._name, self._name, self._key).add_extension(basic, critical=True)
        self.pem = _pem(self._certificate.sign(self._key, hashes.SHA256()))

    def issue(self, folder: Path, host: str) -> ssl.SSLContext:
        """Return the context of a server with a certificate for an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
        alternatives = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
        builder = _builder(name, self._name, key).add_extension(alternatives, critical=False)
        file = folder / "server.pem"
        encoded = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file.write_bytes(encoded + _pem(builder.sign(self._key, hashes.SHA256())).encode())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


Serve = Callable[[ssl.SSLContext], str]
Connect = Callable[[str, str], KubernetesClient]


@pytest.fixture
def server() -> ApiServer:
    return ApiServer()


@pytest.fixture
def serve(server: ApiServer) -> Iterator[Serve]:
    """Serve the API server in memory over TLS, and return its endpoint."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            status, content = server(self.command, self.path, dict(self.headers), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 (http.server's names)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a refused handshake, which the client reports

    started: list[http.server.ThreadingHTTPServer] = []

    def begin(context: ssl.SSLContext) -> str:
        listener = Quiet(("127.0.0.1", 0), Handler)
        listener.socket = context.wrap_socket(listener.socket, server_side=True)
        threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        started.append(listener)
        return f"https://127.0.0.1:{listener.server_address[1]}"

    yield begin
    for listener in started:
        listener.shutdown()
        listener.server_close()


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check certificates by default as Python 3.13 does, which the functions run on."""
    default = ssl.create_default_context

    def create(*, cadata: str) -> ssl.SSLContext:
        context = default(cadata=cadata)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", create)


@pytest.fixture
def connect() -> Iterator[Connect]:
    with contextlib.ExitStack() as stack:
        yield lambda endpoint, pem: stack.enter_context(
            contextlib.closing(KubernetesClient(HttpsTransport(endpoint, pem), TOKEN))
        )


@pytest.mark.usefixtures("strict")
def test_all_verbs_over_tls_with_an_authority_of_eks(server: ApiServer, serve: Serve, connect: Connect, tmp_path: Path) -> None:
    authority = Authority()
    client = connect(serve(authority.issue(tmp_path, "127.0.0.1")), authority.pem)
    maps = f"{NAMESPACE}/configmaps"
    desired = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1"}}
    created = client.create(maps, desired, "a")
    assert client.replace(f"{maps}/a", {**created, "data": {"x": "2"}}, "a")["data"] == {"x": "2"}
    assert client.apply(f"{maps}/a", {**desired, "data": {"y": "3"}}, "a")["data"]["y"] == "3"
    live = client.get(f"{maps}/a", "a")
    assert live
    client.delete(f"{maps}/a", live, "a")
    server.settle()
    client.delete(f"{maps}/a", live, "a")
    assert client.get(f"{maps}/a", "a") is None


def test_a_certificate_of_another_authority_is_refused(server: ApiServer, serve: Serve, connect: Connect, tmp_path: Path) -> None:
    endpoint = serve(Authority().issue(tmp_path, "127.0.0.1"))
    with pytest.raises(KubernetesError, match="certificate is not from the EKS cluster's authority") as caught:
        connect(endpoint, Authority().pem).get(NAMESPACE, "Namespace default")
    assert caught.value.kind is Kind.UNTRUSTED
    assert server.calls == []


def test_a_certificate_for_another_host_is_refused(serve: Serve, connect: Connect, tmp_path: Path) -> None:
    authority = Authority()
    endpoint = serve(authority.issue(tmp_path, "127.0.0.2"))
    with pytest.raises(KubernetesError, match=r"IP address mismatch") as caught:
        connect(endpoint, authority.pem).get(NAMESPACE, "Namespace default")
    assert caught.value.kind is Kind.UNTRUSTED


def test_a_cut_connection_is_unavailable(serve: Serve, connect: Connect, tmp_path: Path, server: ApiServer) -> None:
    authority = Authority()
    client = connect(serve(authority.issue(tmp_path, "127.0.0.1")), authority.pem)
    assert client.get(NAMESPACE, "Namespace default")
    server.before[len(server.calls)] = ConnectionResetError("cut")
    with pytest.raises(KubernetesError) as caught:
        client.get(NAMESPACE, "Namespace default")
    assert caught.value.kind is Kind.UNAVAILABLE


def test_a_closed_port_is_unavailable(connect: Connect) -> None:
    with pytest.raises(KubernetesError) as caught:
        connect("https://127.0.0.1:1", Authority().pem).get(NAMESPACE, "Namespace default")
    assert caught.value.kind is Kind.UNAVAILABLE


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "us-west-2")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")


def url_in(token: str) -> str:
    encoded = token.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


@pytest.mark.usefixtures("credentials")
def test_a_token_is_a_presigned_url_that_names_the_cluster() -> None:
    access = eks_access()
    token = access.token("reference-eks")
    parts = urlsplit(url_in(token))
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert token.startswith("k8s-aws-v1.")
    assert "=" not in token
    assert parts.netloc == "sts.us-west-2.amazonaws.com"
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert query["X-Amz-Expires"] == "60"
    signature = parse_qs(urlsplit(url_in(access.token("other"))).query)["X-Amz-Signature"][0]
    assert signature != query["X-Amz-Signature"]


def test_missing_credentials_are_a_denied_call() -> None:
    session = botocore.session.Session(session_vars={"profile": (None, None, None, None)})
    sts = session.create_client("sts", region_name="us-west-2", aws_access_key_id=None)
    sts._request_signer._credentials = None
    with pytest.raises(ApiError) as caught:
        EksAccess(None, sts).client(EksCluster("a", "ACTIVE", "https://a", "PEM"), lambda: 59.0)
    assert caught.value.kind is AwsKind.DENIED


def test_a_cluster_without_an_authority_gets_no_token() -> None:
    with pytest.raises(PendingError, match="EKS cluster a has no certificate authority"):
        EksAccess(None, None).client(EksCluster("a", "ACTIVE", "https://a", ""), lambda: 59.0)


@pytest.mark.usefixtures("credentials")
def test_describe_cluster_gives_the_endpoint_and_the_authority() -> None:
    eks = botocore.session.get_session().create_client("eks", region_name="us-west-2")
    with Stubber(eks) as stub:
        data = base64.b64encode(b"PEM").decode()
        found = {"status": "ACTIVE", "endpoint": "https://a", "certificateAuthority": {"data": data}}
        stub.add_response("describe_cluster", {"cluster": found}, {"name": "a"})
        stub.add_response("describe_cluster", {"cluster": {"status": "CREATING"}}, {"name": "a"})
        stub.add_client_error("describe_cluster", "ResourceNotFoundException", http_status_code=404)
        stub.add_client_error("describe_cluster", "ServerException", http_status_code=500)
        access = EksAccess(eks, None)
        assert access.cluster("a") == EksCluster("a", "ACTIVE", "https://a", "PEM")
        assert access.cluster("a") == EksCluster("a", "CREATING", "", "")
        assert access.cluster("a") is None
        with pytest.raises(ApiError) as caught:
            access.cluster("a")
    assert caught.value.kind is AwsKind.TRANSIENT


def test_a_reply_that_does_not_fit_into_the_function_is_named(
    server: ApiServer, serve: Serve, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubernetes_resource.client.MAX_REPLY", 1024 * 1024)
    server.add(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1" * 1024**2}}
    )
    authority = Authority()
    endpoint = serve(authority.issue(tmp_path, "127.0.0.1"))
    with pytest.raises(KubernetesError) as caught:
        connect(endpoint, authority.pem).get(f"{NAMESPACE}/configmaps/a", "ConfigMap a")
    assert caught.value.kind is Kind.TOO_LARGE
    assert str(caught.value).startswith("ConfigMap a: the API server's reply is larger than 1 MiB; delete unused ")


def test_metadata_lists_are_small(server: ApiServer, serve: Serve, connect: Connect, tmp_path: Path) -> None:
    server.add(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1" * 1024**2}}
    )
    authority = Authority()
    client = connect(serve(authority.issue(tmp_path, "127.0.0.1")), authority.pem)
    page = client.get(f"{NAMESPACE}/configmaps?limit=100", "it", accept=METADATA_TYPE)
    assert page
    assert "a" in {item["metadata"]["name"] for item in page["items"]}
    assert len(str(page)) < 10_000

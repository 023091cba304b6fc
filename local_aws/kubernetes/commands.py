"""The command lines of a control plane's programs, and the files that they read."""

import json
from dataclasses import dataclass
from pathlib import Path

from local_aws.kubernetes import egress
from local_aws.kubernetes.authority import Authority, Pair, write_signing_key

ETCD, API_SERVER = "etcd", "kube-apiserver"
CONTROLLER_MANAGER, SCHEDULER = "kube-controller-manager", "kube-scheduler"
_LOOPBACK = "127.0.0.1"
_SERVICES = "172.20.0.0/16"  # as EKS gives to clusters in 10.0.0.0/8
API_SERVICE = "172.20.0.1"
_API_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
_ADVERTISED = "10.0.0.10"  # instead of EKS's network interfaces in the VPC; the API server refuses to advertise loopback
_CACHE = "1s"  # of webhooks' answers; the API server itself keeps accepted tokens for 10 s


@dataclass(frozen=True)
class Ports:
    """The ports of a control plane, all on loopback."""

    api: int
    etcd: int
    etcd_peers: int


class Commands:
    """The keys and settings of a control plane in a folder, and the command lines that use them."""

    def __init__(self, name: str, folder: Path, programs: Path, ports: Ports) -> None:
        self._folder, self._programs, self._ports = folder, programs, ports
        self._pki = folder / "pki"
        self._pki.mkdir()
        self._authority = Authority(self._pki, "authority", name)
        # etcd has an authority of its own, so that no user's certificate opens it.
        self._etcd_authority = Authority(self._pki, "etcd-authority", "etcd")
        self.authority = self._authority.files.certificate
        self.admin = self._authority.issue("admin", group="system:masters")
        self._write_client("admin", self.admin)  # for `python -m local_aws kubectl`
        self._signing_key = self._pki / "service-accounts.key"
        write_signing_key(self._signing_key)

    @property
    def endpoint(self) -> str:
        """Return the API server's URL."""
        return f"https://{_LOOPBACK}:{self._ports.api}"

    def etcd(self) -> list[str]:
        """Return the command line of etcd. It needs certificates, because all users of a machine share loopback."""
        pair, trusted = self._etcd_authority.issue("etcd", hosts=(_LOOPBACK,)), self._etcd_authority.files.certificate
        clients, peers = (f"https://{_LOOPBACK}:{port}" for port in (self._ports.etcd, self._ports.etcd_peers))
        tls = [f"cert-file={pair.certificate}", f"key-file={pair.key}", f"trusted-ca-file={trusted}", "client-cert-auth"]
        return self._command(
            ETCD,
            f"data-dir={self._folder / 'etcd'}",
            f"listen-client-urls={clients}",
            f"advertise-client-urls={clients}",
            f"listen-peer-urls={peers}",
            f"initial-advertise-peer-urls={peers}",
            f"initial-cluster=default={peers}",
            *tls,
            *(f"peer-{option}" for option in tls),
            "unsafe-no-fsync",
        )

    def api_server(self, token_webhook: str, authorization_webhook: str | None) -> list[str]:
        """Return the command line of kube-apiserver."""
        serving = self._authority.issue(API_SERVER, hosts=(_LOOPBACK, "localhost", API_SERVICE, _ADVERTISED, *_API_NAMES))
        storing = self._etcd_authority.issue("etcd-client")
        visiting = self._authority.issue("kube-apiserver-kubelet-client", group="system:masters")
        return self._command(
            API_SERVER,
            f"bind-address={_LOOPBACK}",
            f"secure-port={self._ports.api}",
            f"advertise-address={_ADVERTISED}",
            f"tls-cert-file={serving.certificate}",
            f"tls-private-key-file={serving.key}",
            f"cert-dir={self._pki}",
            f"client-ca-file={self.authority}",
            f"etcd-servers=https://{_LOOPBACK}:{self._ports.etcd}",
            f"etcd-cafile={self._etcd_authority.files.certificate}",
            f"etcd-certfile={storing.certificate}",
            f"etcd-keyfile={storing.key}",
            *self._authentication(token_webhook),
            *self._authorization(authorization_webhook),
            f"kubelet-client-certificate={visiting.certificate}",
            f"kubelet-client-key={visiting.key}",
            "kubelet-preferred-address-types=InternalIP",
            f"egress-selector-config-file={egress.write_settings(self._folder)}",
            "enable-aggregator-routing",  # without kube-proxy, services are reached at their pods
            "enable-admission-plugins=NodeRestriction",
            "service-account-issuer=https://kubernetes.default.svc",
            f"service-account-key-file={self._signing_key}",
            f"service-account-signing-key-file={self._signing_key}",
            f"service-cluster-ip-range={_SERVICES}",
            "allow-privileged",
            "profiling=false",
        )

    def _authentication(self, webhook: str) -> list[str]:
        return [
            f"authentication-token-webhook-config-file={self._webhook('token', webhook)}",
            "authentication-token-webhook-version=v1",
            f"authentication-token-webhook-cache-ttl={_CACHE}",
        ]

    def _authorization(self, webhook: str | None) -> list[str]:
        if webhook is None:
            return ["authorization-mode=Node,RBAC"]
        return [
            "authorization-mode=Node,Webhook,RBAC",
            f"authorization-webhook-config-file={self._webhook('authorization', webhook)}",
            "authorization-webhook-version=v1",
            f"authorization-webhook-cache-authorized-ttl={_CACHE}",
            f"authorization-webhook-cache-unauthorized-ttl={_CACHE}",
        ]

    def controller_manager(self) -> list[str]:
        """Return the command line of kube-controller-manager."""
        return self._command(
            CONTROLLER_MANAGER,
            f"kubeconfig={self._kubeconfig(CONTROLLER_MANAGER)}",
            f"service-account-private-key-file={self._signing_key}",
            f"root-ca-file={self.authority}",
            "use-service-account-credentials",
            "kube-api-qps=100",  # with the default of 20, the start takes three seconds longer
            "kube-api-burst=200",
            "leader-elect=false",
            "port=0",
            "secure-port=0",
        )

    def scheduler(self) -> list[str]:
        """Return the command line of kube-scheduler."""
        return self._command(
            SCHEDULER, f"kubeconfig={self._kubeconfig(SCHEDULER)}", "leader-elect=false", "port=0", "secure-port=0"
        )

    def _command(self, name: str, *options: str) -> list[str]:
        return [str(self._programs / name), *(f"--{option}" for option in options)]

    def _kubeconfig(self, program: str) -> Path:
        return self._write_client(program, self._authority.issue(f"system:{program}"))

    def _write_client(self, name: str, pair: Pair) -> Path:
        user = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        server = {"server": self.endpoint, "certificate-authority": str(self.authority)}
        return self._write_config(name, server, user)

    def _webhook(self, name: str, url: str) -> Path:
        return self._write_config(f"{name}-webhook", {"server": url}, {})

    def _write_config(self, name: str, cluster: dict[str, str], user: dict[str, str]) -> Path:
        path = self._folder / f"{name}.kubeconfig"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "it", "user": user}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "current-context": "it",
        }
        path.write_text(json.dumps(config))  # JSON is YAML
        return path

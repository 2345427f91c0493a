"""What the documentation of modules says about reaching the API server."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of module_utils/api.py."""

    DOCUMENTATION = """
options:
  kubeconfig:
    description: Path of a kubeconfig. C(K8S_AUTH_KUBECONFIG) says it too; in an operator's run it is set.
    type: path
  context:
    description: Context of the kubeconfig. C(K8S_AUTH_CONTEXT) says it too.
    type: str
  host:
    description: URL of the API server. C(K8S_AUTH_HOST) says it too.
    type: str
  api_key:
    description: Bearer token. C(K8S_AUTH_API_KEY) says it too.
    type: str
  username:
    description: Name for basic authentication. C(K8S_AUTH_USERNAME) says it too.
    type: str
  password:
    description: Password for basic authentication. C(K8S_AUTH_PASSWORD) says it too.
    type: str
  validate_certs:
    description: Whether the API server has to prove who it is. C(K8S_AUTH_VERIFY_SSL) says it too.
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description: Path of the API server's certificate authority. C(K8S_AUTH_SSL_CA_CERT) says it too.
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description: Path of a client certificate. C(K8S_AUTH_CERT_FILE) says it too.
    type: path
    aliases: [cert_file]
  client_key:
    description: Path of the client certificate's key. C(K8S_AUTH_KEY_FILE) says it too.
    type: path
    aliases: [key_file]
  proxy:
    description: URL of an HTTP proxy. C(K8S_AUTH_PROXY) says it too.
    type: str
  persist_config:
    description: Whether tokens that were renewed are written back to the kubeconfig. C(K8S_AUTH_PERSIST_CONFIG) says it too.
    type: bool
requirements:
  - The Python package kubernetes, 12 or later.
"""

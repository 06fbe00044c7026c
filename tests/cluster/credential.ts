/** What a client authenticates with. */
export type Credential = { kind: 'certificate'; certificate: string; key: string } | { kind: 'token'; token: string };

export type Endpoint = {
  url: string;
  /** The server's CA certificate, PEM. */
  certificateAuthority: string;
};

/** Returns a kubeconfig in JSON, which is valid YAML. */
export function kubeconfigOf({ url, certificateAuthority }: Endpoint, credential: Credential): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user =
    credential.kind === 'token'
      ? { token: credential.token }
      : {
          'client-certificate-data': base64(credential.certificate),
          'client-key-data': base64(credential.key),
        };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(certificateAuthority) } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  return JSON.stringify(config, undefined, 2);
}

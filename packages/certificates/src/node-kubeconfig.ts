import { dirname } from 'node:path';
import { makePrivateDirectory, wrapError } from '@podwright/base';
import { writeFileDurable } from '@podwright/host';
import type { TlsOptions } from '@podwright/kube-client';
import { stringify } from 'yaml';

/** The cluster and the user of a kubeconfig. */
export type KubeconfigContent = {
  server: string;
  tls: Pick<TlsOptions, 'ca' | 'serverName' | 'insecureSkipTlsVerify'>;
  user: { 'client-certificate': string; 'client-key': string } | { token: string };
};

/**
 * Writes a kubeconfig with a single context, using the same names as upstream's kubelet. The mode is 0600, because the file may contain a
 * token.
 */
export async function writeKubeconfig(path: string, content: KubeconfigContent): Promise<void> {
  makePrivateDirectory(dirname(path));
  await writeFileDurable(path, kubeconfigText(content)).catch((error: unknown) => {
    throw wrapError(`write the kubeconfig ${path}`, error);
  });
}

export function kubeconfigText({ server, tls, user }: KubeconfigContent): string {
  const cluster = {
    server,
    ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
    ...(tls.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
  };
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'default-cluster', cluster }],
      users: [{ name: 'default-auth', user }],
      contexts: [
        {
          name: 'default-context',
          context: { cluster: 'default-cluster', user: 'default-auth', namespace: 'default' },
        },
      ],
      'current-context': 'default-context',
    },
    { lineWidth: 0 },
  );
}
